#pragma once

#include <filesystem>
#include <map>
#include <vector>

namespace proteus::app {

// Detects changes of files and of directory entries since the watch was made, by their modification times.
class FileWatch {
 public:
  FileWatch() = default;  // watches nothing
  explicit FileWatch(std::vector<std::filesystem::path> paths) : paths_(std::move(paths)), seen_(look()) {}

  // Adds a path. Its present state counts as unchanged.
  void add(const std::filesystem::path& path);
  bool changed() const { return look() != seen_; }

 private:
  using Times = std::map<std::filesystem::path, std::filesystem::file_time_type>;

  Times look() const;
  static void look_at(const std::filesystem::path& path, Times& times);

  std::vector<std::filesystem::path> paths_;
  Times seen_;
};

}  // namespace proteus::app
