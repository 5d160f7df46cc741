#include "base/log.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace proteus::log {
namespace {

spdlog::level::level_enum to_spdlog(Level level) { return static_cast<spdlog::level::level_enum>(level); }

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto made = spdlog::stderr_color_mt("proteus");
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v", spdlog::pattern_time_type::utc);
    made->set_level(spdlog::level::info);
    return made;
  }();
  return *instance;
}

bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

void set_level(Level level) { logger().set_level(to_spdlog(level)); }

bool enabled(Level level) { return logger().should_log(to_spdlog(level)); }

void write(Level level, std::string_view message) { logger().log(to_spdlog(level), "{}", message); }

std::string printable(std::string_view text, std::size_t limit) {
  std::size_t kept = std::min(text.size(), limit);
  // No character is cut in half; one has at most three bytes behind its first.
  for (int i = 0; i < 3 && kept > 0 && kept < text.size() && (static_cast<unsigned char>(text[kept]) & 0xc0U) == 0x80;
       ++i)
    --kept;
  std::string out;
  out.reserve(kept + 4);
  for (const char c : text.substr(0, kept)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    } else {
      out.push_back(c);
    }
  }
  if (text.size() > kept) out += "…";
  return out;
}

std::string redact(std::string_view header_name, std::string_view value) {
  static constexpr std::array<std::string_view, 6> kSecret = {"authorization", "proxy-authorization", "cookie",
                                                              "set-cookie",    "x-admin-secret",      "x-api-key"};
  const bool secret = std::ranges::any_of(kSecret, [&](auto name) { return same_ignoring_case(name, header_name); });
  return secret ? "[redacted]" : printable(value);
}

}  // namespace proteus::log
