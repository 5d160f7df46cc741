#include "base/date_time.hpp"

#include <algorithm>
#include <optional>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace proteus {
namespace {

constexpr std::size_t kLongestDateTime = 64;

// Reads a text from its beginning. After the first mismatch everything fails.
class DateTimeReader {
 public:
  explicit DateTimeReader(std::string_view text) : rest_(text) {}

  // Reads a number of exactly `count` digits.
  int digits(std::size_t count) {
    int value = 0;
    if (rest_.size() < count) return fail();
    for (const char c : rest_.substr(0, count)) {
      if (c < '0' || c > '9') return fail();
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(count);
    return value;
  }
  // Reads one of `characters` and returns its index among them.
  std::size_t one_of(std::string_view characters) {
    const std::size_t found = rest_.empty() ? std::string_view::npos : characters.find(rest_.front());
    if (found == std::string_view::npos) {
      fail();
      return 0;
    }
    rest_.remove_prefix(1);
    return found;
  }
  std::chrono::nanoseconds fraction() {
    std::chrono::nanoseconds value{0};
    if (!rest_.starts_with('.')) return value;
    rest_.remove_prefix(1);
    std::chrono::nanoseconds unit = std::chrono::seconds(1);
    const std::size_t count = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    if (count == 0) fail();
    for (const char c : rest_.substr(0, count)) {
      unit /= 10;
      value += unit * (c - '0');
    }
    rest_.remove_prefix(count);
    return value;
  }
  bool is_done() const { return !failed_ && rest_.empty(); }

 private:
  int fail() {
    failed_ = true;
    rest_ = {};
    return 0;
  }

  std::string_view rest_;
  bool failed_ = false;
};

std::optional<Clock::Wall> read_date_time(std::string_view text) {
  using namespace std::chrono;
  DateTimeReader reader(text);
  const int year_number = reader.digits(4);
  reader.one_of("-");
  const int month_number = reader.digits(2);
  reader.one_of("-");
  const year_month_day date(year(year_number), month(static_cast<unsigned>(month_number)),
                            day(static_cast<unsigned>(reader.digits(2))));
  reader.one_of("Tt ");
  const int hour = reader.digits(2);
  reader.one_of(":");
  const int minute = reader.digits(2);
  reader.one_of(":");
  const int second = reader.digits(2);
  const nanoseconds fraction = reader.fraction();
  const std::size_t zone = reader.one_of("Zz+-");
  minutes offset{0};
  if (zone >= 2) {
    const int hours_off = reader.digits(2);
    reader.one_of(":");
    const int minutes_off = reader.digits(2);
    if (hours_off > 23 || minutes_off > 59) return std::nullopt;
    offset = (hours(hours_off) + minutes(minutes_off)) * (zone == 2 ? 1 : -1);
  }
  // A leap second counts as the second after it. The range of the clock's type ends in 2262.
  if (!reader.is_done() || !date.ok() || year_number < 1970 || year_number >= 2200) return std::nullopt;
  if (hour > 23 || minute > 59 || second > 60) return std::nullopt;
  return time_point_cast<Clock::Wall::duration>(sys_days(date) + hours(hour) + minutes(minute) + seconds(second) +
                                                fraction - offset);
}

}  // namespace

Result<Clock::Wall> parse_date_time(std::string_view text) {
  const auto read = text.size() <= kLongestDateTime ? read_date_time(text) : std::nullopt;
  if (read) return *read;
  return std::unexpected(errors::invalid("must be a date and time with an offset, such as 2027-01-01T00:00:00Z"));
}

std::string write_date_time(Clock::Wall time) {
  return fmt::format("{:%FT%TZ}", std::chrono::floor<std::chrono::seconds>(time));
}

}  // namespace proteus
