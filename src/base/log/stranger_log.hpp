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
#include "base/log/line_limit.hpp"
#include "base/log/log.hpp"

namespace proteus {

// A log for lines that an untrusted peer can cause at will: an upstream by what it sends, a client by what it requests.
// Each line except an event begins with the peer's name; each is printable and of bounded length. At most
// kLinesPerMinute lines are written per minute, and the next line after that states how many were omitted. A line whose
// level is off costs no more than in `log`. Thread-safe.
class StrangerLog {
 public:
  static constexpr unsigned kLinesPerMinute = 120;
  static constexpr std::size_t kMaxLine = 1000;

  // The clock must outlive the log.
  StrangerLog(std::string name, const Clock& clock) : name_(std::move(name)), clock_(clock) {}
  // Uses the system's clock.
  explicit StrangerLog(std::string name);
  // Logs the number of omitted lines that no line has stated yet.
  ~StrangerLog();
  StrangerLog(const StrangerLog&) = delete;
  StrangerLog& operator=(const StrangerLog&) = delete;

  // Writes "name: message".
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

  // Writes "name message", a sentence that begins with the name.
  template <class... Args>
  void note(log::Level level, log::Located<std::type_identity_t<Args>...> located, Args&&... args) {
    if (const auto unwritten = take(level, located.where))
      write(level, " ", fmt::format(located.format, std::forward<Args>(args)...), *unwritten, located.where);
  }

  // Like `log::event`. The message does not begin with the name, but a field may contain it.
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
