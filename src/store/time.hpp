#pragma once

#include <chrono>

#include "base/clock.hpp"

namespace proteus::store {

// Times are kept to the microsecond.
using Time = std::chrono::sys_time<std::chrono::microseconds>;
inline Time to_time(Clock::Wall wall) { return std::chrono::floor<std::chrono::microseconds>(wall); }

}  // namespace proteus::store
