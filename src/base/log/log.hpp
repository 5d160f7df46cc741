#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>
#include <proteus/error.hpp>

// Writes one line per event to standard error: time, level, module, message, fields. The module is the folder of src
// that contains the statement. Values that may hold secrets must not be logged. Nothing is formatted for a line whose
// level is off; if the level is off for all modules, the line costs a load and a comparison. Thread-safe.
namespace proteus::log {

enum class Level : std::uint8_t { trace, debug, info, warning, error, critical, off };
enum class Format : std::uint8_t { text, json };

struct Settings {
  Level level = Level::info;
  std::map<std::string, Level> modules = {};  // the levels that differ from `level`
  Format format = Format::text;

  friend bool operator==(const Settings&, const Settings&) = default;
};

void configure(const Settings& settings);
inline void set_level(Level level) { configure({.level = level}); }

std::string_view to_string(Level level);
// Applies a text such as "info,gateway=debug"; a level without a module is for all modules that are not named. A text
// that is rejected changes nothing.
Result<> apply(std::string_view text, Settings& settings);
// Fails if there is no module of that name; the error lists the modules.
Result<> check_module(std::string_view name);

namespace detail {
// The lowest level that is on for any module.
inline std::atomic<Level> least{Level::info};
}  // namespace detail

// Whether some module may write a line of this level.
inline bool enabled(Level level) { return level >= detail::least.load(std::memory_order_relaxed); }
// Whether the calling module writes a line of this level.
bool enabled_here(Level level, std::source_location where = std::source_location::current());

// A detail of an event besides its message. A field with an empty value is omitted.
struct Field {
  std::string_view name;
  std::string value;
};

// Writes the line if the level is on for the module.
void write(Level level, std::string_view message, std::span<const Field> fields, const std::source_location& where);

// Logs an event with fields. The caller always pays for making the fields, so check `enabled` first for frequent
// events.
inline void event(Level level, std::string_view message, std::initializer_list<Field> fields,
                  const std::source_location& where = std::source_location::current()) {
  if (enabled(level)) write(level, message, {fields.begin(), fields.size()}, where);
}

// A format string with its source location.
template <class... Args>
struct Located {
  template <class Text>
  // NOLINTNEXTLINE(google-explicit-constructor): a literal is one
  consteval Located(const Text& text, std::source_location at = std::source_location::current())
      : format(text), where(at) {}

  fmt::format_string<Args...> format;
  std::source_location where;
};

template <class... Args>
void at(Level level, Located<std::type_identity_t<Args>...> located, Args&&... args) {
  if (enabled(level) && enabled_here(level, located.where)) {
    write(level, fmt::format(located.format, std::forward<Args>(args)...), {}, located.where);
  }
}
template <class... Args>
void debug(Located<std::type_identity_t<Args>...> located, Args&&... args) {
  at<Args...>(Level::debug, located, std::forward<Args>(args)...);
}
template <class... Args>
void info(Located<std::type_identity_t<Args>...> located, Args&&... args) {
  at<Args...>(Level::info, located, std::forward<Args>(args)...);
}
template <class... Args>
void warning(Located<std::type_identity_t<Args>...> located, Args&&... args) {
  at<Args...>(Level::warning, located, std::forward<Args>(args)...);
}
template <class... Args>
void error(Located<std::type_identity_t<Args>...> located, Args&&... args) {
  at<Args...>(Level::error, located, std::forward<Args>(args)...);
}
template <class... Args>
void critical(Located<std::type_identity_t<Args>...> located, Args&&... args) {
  at<Args...>(Level::critical, located, std::forward<Args>(args)...);
}

// For tests: passes each line to `sink` instead, on the thread that logs it; null ends that.
void redirect(void (*sink)(std::string_view line));

// Returns a text that is safe in a log line: cut at `limit` bytes, then with control characters escaped.
std::string printable(std::string_view text, std::size_t limit = 256);

}  // namespace proteus::log
