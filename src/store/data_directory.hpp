#pragma once

#include <filesystem>
#include <string_view>

#include <proteus/error.hpp>

#include "base/unique_fd.hpp"

namespace proteus::store {

// The data directory of one gateway, locked against other processes while this object lives. The lock ends with the
// process, however the process ends, and programs that it starts do not inherit it.
class DataDirectory {
 public:
  // Creates what is missing, the directory itself with mode 0700. Rejects a directory that every user may write to, and
  // one that another process holds; the error names that process.
  static Result<DataDirectory> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(std::string_view name) const { return path_ / name; }

 private:
  DataDirectory(std::filesystem::path path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::filesystem::path path_;
  UniqueFd lock_;
};

}  // namespace proteus::store
