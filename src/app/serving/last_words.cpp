#include "app/serving/last_words.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <new>
#include <string_view>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

namespace proteus::app {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
// Stacks and arenas of threads take part of the address space before anything is served.
constexpr std::uint64_t kLeastAddressSpace = 512 * kMiB;

std::atomic<log::Format> format_of_line = log::Format::text;

// A line of text in a fixed buffer on the stack.
class Line {
 public:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    const auto out = fmt::format_to_n(text_.data() + size_, room(), format, std::forward<Args>(args)...);
    size_ += std::min(out.size, room());
  }
  // Adds text, and replaces characters that would end a JSON string or the line.
  void add_plain(std::string_view text) {
    for (const char c : text.substr(0, room()))
      text_[size_++] = (c >= 0 && c < ' ') || c == '"' || c == '\\' || c == '\x7f' ? ' ' : c;
  }
  void add_end(std::string_view text) { size_ += text.copy(text_.data() + size_, text_.size() - size_); }
  void write() const { [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text_.data(), size_); }

 private:
  static constexpr std::size_t kEnd = 4;  // reserved for the end of the line
  std::size_t room() const { return text_.size() - std::min(text_.size(), size_ + kEnd); }

  std::array<char, 1024> text_{};
  std::size_t size_ = 0;
};

void add_time(Line& line) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  ::gmtime_r(&now.tv_sec, &parts);
  line.add("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
           parts.tm_hour, parts.tm_min, parts.tm_sec, now.tv_nsec / 1'000'000);
}

void add_reason(Line& line) {
  const std::exception_ptr thrown = std::current_exception();
  if (!thrown) return line.add_plain("the program ends because of a bug");
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    line.add_plain("out of memory");
    if (const auto limit = address_space_limit()) line.add(": the address space is limited to {} MiB", *limit / kMiB);
  } catch (const std::exception& fault) {
    line.add_plain("the program ends because of an exception: ");
    line.add_plain(fault.what());
  } catch (...) {
    line.add_plain("the program ends because of an unknown exception");
  }
}

[[noreturn]] void say_and_abort() {
  Line line;
  const bool json = format_of_line == log::Format::json;
  line.add("{}", json ? R"({"time":")" : "");
  add_time(line);
  line.add("{}", json ? R"(","level":"critical","module":"app","message":")" : " critical app: ");
  add_reason(line);
  line.add_end(json ? "\"}\n" : "\n");
  line.write();
  std::abort();
}

}  // namespace

void install_last_words(log::Format format) {
  format_of_line = format;
  std::set_terminate(say_and_abort);
}

std::optional<std::uint64_t> address_space_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

Result<> check_address_space(std::optional<std::uint64_t> limit) {
  if (!limit || *limit >= kLeastAddressSpace) return {};
  return std::unexpected(
      errors::exhausted(fmt::format("the address space is limited to {} MiB (ulimit -v); at least {} MiB are needed",
                                    *limit / kMiB, kLeastAddressSpace / kMiB)));
}

}  // namespace proteus::app
