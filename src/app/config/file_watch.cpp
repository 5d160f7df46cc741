#include "app/config/file_watch.hpp"

#include <system_error>

namespace proteus::app {

void FileWatch::look_at(const std::filesystem::path& path, Times& times) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  times[path] = fs::last_write_time(path, ignored);
  if (!fs::is_directory(path, ignored)) return;
  for (fs::directory_iterator at(path, ignored), end; !ignored && at != end; at.increment(ignored)) {
    std::error_code gone;
    times[at->path()] = fs::last_write_time(at->path(), gone);
  }
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
