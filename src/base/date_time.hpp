#pragma once

#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/clock.hpp"

namespace proteus {

// Parses an RFC 3339 date and time with an offset: "2027-01-01T00:00:00Z", "2027-01-01T01:30:00.5+01:30". From the year
// 1970 to 2199.
Result<Clock::Wall> parse_date_time(std::string_view text);
// Writes the time in UTC, to the second.
std::string write_date_time(Clock::Wall time);

}  // namespace proteus
