#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "gateway/observe/metrics.hpp"

namespace proteus::gateway {

// How many requests there were between two looks at the counters, how many of them failed, and how long they took.
struct Figure {
  std::uint64_t requests = 0;
  std::uint64_t failed = 0;
  std::optional<double> mean_ms = {};  // where it is measured, and there were any
};

// The gateway's own figures of the last hour, for charts. It looks at the counters now and then: requests cost nothing
// more for it. Thread-safe.
class Figures {
 public:
  static constexpr std::chrono::seconds kStep{10};
  static constexpr std::size_t kKept = 360;
  static constexpr std::size_t kMostUpstreams = 200;  // of one moment; the busiest

  // It outlives this.
  explicit Figures(Metrics& metrics) : metrics_(metrics) {}
  Figures(const Figures&) = delete;
  Figures& operator=(const Figures&) = delete;

  // Every few seconds; looks where the last look was a step ago.
  void look(Clock::Wall now);

  struct Moment {
    Clock::Wall at;
    std::chrono::duration<double> since_last;
    Figure figure;
  };
  // Of all requests of clients, or of those to one upstream; the oldest first. A moment without requests is there, too.
  std::vector<Moment> all() const;
  std::vector<Moment> of_upstream(std::string_view upstream) const;

 private:
  struct Total {
    std::uint64_t requests = 0;
    std::uint64_t failed = 0;
    std::uint64_t timed = 0;
    std::chrono::nanoseconds time{};
  };
  struct Sample {
    Clock::Wall at;
    std::chrono::duration<double> since_last;
    Figure all;
    std::map<std::string, Figure, std::less<>> upstreams;  // that were asked
  };

  static Total total_of(const UpstreamMeter& meter);
  static Figure between(const Total& before, const Total& after);

  Metrics& metrics_;
  mutable std::mutex mutex_;
  std::deque<Sample> samples_;
  std::optional<Clock::Wall> last_at_;
  Total last_;
  std::map<std::string, Total, std::less<>> last_of_upstreams_;
};

}  // namespace proteus::gateway
