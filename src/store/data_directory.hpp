#pragma once

#include <filesystem>
#include <string_view>

#include <proteus/error.hpp>

#include "base/unique_fd.hpp"

namespace proteus::store {

// The directory of one gateway. While this lives, no other process has it; the lock goes with the process, however that
// ends, and is not inherited by programs it starts.
class DataDirectory {
 public:
  // Creates what is missing, the directory itself with mode 0700. Refuses one that every user may write to, and one
  // that another process holds, which it names.
  static Result<DataDirectory> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(std::string_view name) const { return path_ / name; }

 private:
  DataDirectory(std::filesystem::path path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::filesystem::path path_;
  UniqueFd lock_;
};

}  // namespace proteus::store
