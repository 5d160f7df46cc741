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

// One line per event, on standard error: time, level, module, message, fields. The module is the folder the line is
// written in. Values that may hold secrets go through `redact` or are not logged at all. A line whose level is off
// costs a load and a comparison; nothing is formatted. Thread-safe.
namespace proteus::log {

enum class Level : std::uint8_t { trace, debug, info, warning, error, critical, off };
enum class Format : std::uint8_t { text, json };

struct Settings {
  Level level = Level::info;
  std::map<std::string, Level> modules = {};  // where it differs
  Format format = Format::text;

  friend bool operator==(const Settings&, const Settings&) = default;
};

void configure(const Settings& settings);
inline void set_level(Level level) { configure({.level = level}); }

std::string_view to_string(Level level);
// Takes over what a text such as "info,gateway=debug" says; one without a module is for all that are not named.
Result<> apply(std::string_view text, Settings& settings);
// Fails where there is no module of that name, and says which are meant.
Result<> check_module(std::string_view name);

namespace detail {
// The lowest level that is on for anyone.
inline std::atomic<Level> least{Level::info};
}  // namespace detail

// Whether a line of this level may be written by some module.
inline bool enabled(Level level) { return level >= detail::least.load(std::memory_order_relaxed); }
// Whether it is written by the module that asks.
bool enabled_here(Level level, std::source_location where = std::source_location::current());

// What belongs to an event besides its message; an empty value is left out.
struct Field {
  std::string_view name;
  std::string value;
};

// Writes the line where the level is on for the module.
void write(Level level, std::string_view message, std::span<const Field> fields, const std::source_location& where);

// An event with fields; making them is the caller's cost, so ask `enabled` first where lines are many.
inline void event(Level level, std::string_view message, std::initializer_list<Field> fields,
                  const std::source_location& where = std::source_location::current()) {
  if (enabled(level)) write(level, message, {fields.begin(), fields.size()}, where);
}

// A format that knows where it stands.
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

// For tests: lines go here instead, one by one; an empty function ends that.
void redirect(void (*sink)(std::string_view line));

// A text that is safe in a log line: control characters escaped, cut at `limit` bytes.
std::string printable(std::string_view text, std::size_t limit = 256);

// A header value, unless the header carries credentials.
std::string redact(std::string_view header_name, std::string_view value);

}  // namespace proteus::log
