#pragma once

#include <filesystem>
#include <map>
#include <vector>

namespace proteus::app {

// Tells whether files, or what is in directories, changed since it was made.
class FileWatch {
 public:
  FileWatch() = default;  // of nothing
  explicit FileWatch(std::vector<std::filesystem::path> paths) : paths_(std::move(paths)), seen_(look()) {}

  // One more, as it is now.
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
