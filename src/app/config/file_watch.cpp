#include "app/config/file_watch.hpp"

#include <system_error>

namespace proteus::app {

FileWatch::Times FileWatch::look() const {
  namespace fs = std::filesystem;
  Times times;
  std::error_code ignored;
  for (const auto& path : paths_) {
    times[path] = fs::last_write_time(path, ignored);
    if (!fs::is_directory(path, ignored)) continue;
    for (const auto& entry : fs::directory_iterator(path, ignored))
      times[entry.path()] = fs::last_write_time(entry.path(), ignored);
  }
  return times;
}

}  // namespace proteus::app
