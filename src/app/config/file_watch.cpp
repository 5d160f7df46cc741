#include "app/config/file_watch.hpp"

#include <system_error>

namespace proteus::app {

void FileWatch::look_at(const std::filesystem::path& path, Times& times) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  times[path] = fs::last_write_time(path, ignored);
  if (!fs::is_directory(path, ignored)) return;
  for (const auto& entry : fs::directory_iterator(path, ignored))
    times[entry.path()] = fs::last_write_time(entry.path(), ignored);
}

FileWatch::Times FileWatch::look() const {
  Times times;
  for (const auto& path : paths_)
    look_at(path, times);
  return times;
}

void FileWatch::add(const std::filesystem::path& path) {
  paths_.push_back(path);
  look_at(path, seen_);
}

}  // namespace proteus::app
