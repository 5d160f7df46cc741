#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/line_limit.hpp"
#include "base/log.hpp"

namespace proteus {

// The log, for lines that a stranger can cause as often as it likes: an upstream by what it sends, a client by what it
// asks. Each line begins with the stranger's name, is printable and has an end; there are at most kLinesPerMinute, and
// the next one after that says how many were left out. One whose level is off costs what it costs without this.
// Thread-safe.
class StrangerLog {
 public:
  static constexpr unsigned kLinesPerMinute = 120;
  static constexpr std::size_t kMaxLine = 1000;

  // The clock outlives it.
  StrangerLog(std::string name, const Clock& clock) : name_(std::move(name)), clock_(clock) {}
  // By the system's clock.
  explicit StrangerLog(std::string name);
  // Tells of what no line has told of.
  ~StrangerLog();
  StrangerLog(const StrangerLog&) = delete;
  StrangerLog& operator=(const StrangerLog&) = delete;

  // "name: message"
  template <class... Args>
  void at(log::Level level, log::Located<std::type_identity_t<Args>...> located, Args&&... args) {
    if (const auto unwritten = take(level, located.where))
      write(level, ": ", fmt::format(located.format, std::forward<Args>(args)...), *unwritten, located.where);
  }
  template <class... Args>
  void debug(log::Located<std::type_identity_t<Args>...> located, Args&&... args) {
    at<Args...>(log::Level::debug, located, std::forward<Args>(args)...);
  }
  template <class... Args>
  void info(log::Located<std::type_identity_t<Args>...> located, Args&&... args) {
    at<Args...>(log::Level::info, located, std::forward<Args>(args)...);
  }
  template <class... Args>
  void warning(log::Located<std::type_identity_t<Args>...> located, Args&&... args) {
    at<Args...>(log::Level::warning, located, std::forward<Args>(args)...);
  }

  // "name message", a sentence that the name begins.
  template <class... Args>
  void note(log::Level level, log::Located<std::type_identity_t<Args>...> located, Args&&... args) {
    if (const auto unwritten = take(level, located.where))
      write(level, " ", fmt::format(located.format, std::forward<Args>(args)...), *unwritten, located.where);
  }

  // As log::event; the name is not in the message, but may be in a field.
  void event(log::Level level, std::string_view message, std::initializer_list<log::Field> fields,
             const std::source_location& where = std::source_location::current());

 private:
  std::optional<std::uint64_t> take(log::Level level, const std::source_location& where) {
    return log::enabled_here(level, where) ? lines_.take(clock_.recent()) : std::nullopt;
  }
  void write(log::Level level, std::string_view between, std::string_view message, std::uint64_t unwritten,
             const std::source_location& where);

  const std::string name_;
  const Clock& clock_;
  LineLimit lines_{kLinesPerMinute};
};

}  // namespace proteus
