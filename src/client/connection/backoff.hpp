#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>
#include <utility>

namespace proteus::client {

// Source of random numbers from 0 up to 1. Injected, so that tests can choose them.
using Chance = std::function<double()>;

// The default source. Thread-safe.
inline double random_chance() {
  thread_local std::minstd_rand generator(std::random_device{}());
  return std::uniform_real_distribution<double>()(generator);
}

// Returns how long to wait after `failures` failures in a row. The delay doubles from `first` up to `most`; a random
// amount of up to half is subtracted, so that clients that failed together do not retry together.
inline std::chrono::milliseconds backoff(unsigned failures, std::chrono::milliseconds first,
                                         std::chrono::milliseconds most, const Chance& chance) {
  auto delay = first;
  for (unsigned i = 1; i < failures && delay < most; ++i)
    delay *= 2;
  delay = std::min(delay, most);
  return std::chrono::milliseconds(static_cast<std::int64_t>(static_cast<double>(delay.count()) * (1 + chance()) / 2));
}

// A delay that doubles each time it is taken, up to `most`.
class GrowingDelay {
 public:
  GrowingDelay(std::chrono::milliseconds first, std::chrono::milliseconds most) : first_(first), most_(most) {}

  std::chrono::milliseconds next() const { return next_; }
  std::chrono::milliseconds take() { return std::exchange(next_, std::min(2 * next_, most_)); }
  void restart() { next_ = first_; }

 private:
  std::chrono::milliseconds first_;
  std::chrono::milliseconds most_;
  std::chrono::milliseconds next_ = first_;
};

// Returns the interval, varied at random by up to a tenth.
inline std::chrono::milliseconds jittered(std::chrono::milliseconds interval, const Chance& chance) {
  return std::chrono::milliseconds(
      static_cast<std::int64_t>(static_cast<double>(interval.count()) * (0.9 + 0.2 * chance())));
}

}  // namespace proteus::client
