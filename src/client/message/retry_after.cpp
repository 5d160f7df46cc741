#include "client/message/retry_after.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <optional>
#include <string>

namespace proteus::client {
namespace {

std::optional<std::time_t> read_date(std::string_view text) {
  const std::string terminated(text.substr(0, 64));
  std::tm parts{};
  const char* const end = ::strptime(terminated.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return ::timegm(&parts);
}

std::chrono::seconds bounded(std::int64_t seconds) {
  return std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, kLongestRetryAfter.count()));
}

}  // namespace

std::chrono::seconds read_retry_after(const net::Fields& fields) {
  const auto wait = fields.find("Retry-After");
  if (!wait) return {};
  std::int64_t seconds = 0;
  const char* const first = wait->data();
  const char* const last = first + wait->size();
  const auto [end, fault] = std::from_chars(first, last, seconds);
  if (fault == std::errc::result_out_of_range && !wait->starts_with('-')) return kLongestRetryAfter;
  if (fault == std::errc{} && end == last) return bounded(seconds);
  const auto until = read_date(*wait);
  const auto now = read_date(fields.find("Date").value_or(""));
  return until && now ? bounded(*until - *now) : std::chrono::seconds(0);
}

}  // namespace proteus::client
