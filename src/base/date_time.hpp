#pragma once

#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/clock.hpp"

namespace proteus {

// An instant as RFC 3339 writes it, with an offset: "2027-01-01T00:00:00Z", "2027-01-01T01:30:00.5+01:30". Up to the
// year 2199.
Result<Clock::Wall> parse_date_time(std::string_view text);
// In UTC, to the second.
std::string write_date_time(Clock::Wall time);

}  // namespace proteus
