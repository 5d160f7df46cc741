#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.hpp"

namespace proteus::store {

// Times are stored with a precision of one microsecond.
using Time = std::chrono::sys_time<std::chrono::microseconds>;
inline Time to_time(Clock::Wall wall) { return std::chrono::floor<std::chrono::microseconds>(wall); }

// Convert to and from the stored form.
inline std::int64_t microseconds(Time time) { return time.time_since_epoch().count(); }
inline Time time_of(std::int64_t microseconds) { return Time(std::chrono::microseconds(microseconds)); }

}  // namespace proteus::store
