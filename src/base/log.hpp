#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

// One line per event, on standard error: time, level, message. Values that may hold secrets go through
// `redact` or are not logged at all. Formatting happens only if the level is on.
namespace proteus::log {

enum class Level { trace, debug, info, warning, error, critical, off };

void set_level(Level level);
bool enabled(Level level);
void write(Level level, std::string_view message);

template <class... Args>
void at(Level level, fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(level)) write(level, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  at(Level::debug, format, std::forward<Args>(args)...);
}
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  at(Level::info, format, std::forward<Args>(args)...);
}
template <class... Args>
void warning(fmt::format_string<Args...> format, Args&&... args) {
  at(Level::warning, format, std::forward<Args>(args)...);
}
template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  at(Level::error, format, std::forward<Args>(args)...);
}
template <class... Args>
void critical(fmt::format_string<Args...> format, Args&&... args) {
  at(Level::critical, format, std::forward<Args>(args)...);
}

// A text that is safe in a log line: control characters escaped, cut at `limit` bytes.
std::string printable(std::string_view text, std::size_t limit = 256);

// A header value, unless the header carries credentials.
std::string redact(std::string_view header_name, std::string_view value);

}  // namespace proteus::log
