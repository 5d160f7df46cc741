#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>

namespace proteus::client {

// A number from 0 up to 1, where chance decides; injected, so that tests know it.
using Chance = std::function<double()>;

// Any thread's own.
inline double random_chance() {
  thread_local std::minstd_rand generator(std::random_device{}());
  return std::uniform_real_distribution<double>()(generator);
}

// How long to wait before the next try after so many that failed: doubling from `first` up to `most`, and between half
// of that and all of it, so that those who failed together do not come back together.
inline std::chrono::milliseconds backoff(unsigned failures, std::chrono::milliseconds first,
                                         std::chrono::milliseconds most, const Chance& chance) {
  auto delay = first;
  for (unsigned i = 1; i < failures && delay < most; ++i)
    delay *= 2;
  delay = std::min(delay, most);
  return std::chrono::milliseconds(static_cast<std::int64_t>(static_cast<double>(delay.count()) * (1 + chance()) / 2));
}

// An interval give or take a tenth.
inline std::chrono::milliseconds jittered(std::chrono::milliseconds interval, const Chance& chance) {
  return std::chrono::milliseconds(
      static_cast<std::int64_t>(static_cast<double>(interval.count()) * (0.9 + 0.2 * chance())));
}

}  // namespace proteus::client
