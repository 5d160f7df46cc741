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
  std::optional<double> mean_ms = {};  // unset if no request was timed
};

// The gateway's own figures of the last hour, for charts. Looks at the counters now and then, so that requests cost
// nothing more. Thread-safe.
class Figures {
 public:
  static constexpr std::chrono::seconds kStep{10};
  static constexpr std::size_t kKept = 360;
  static constexpr std::size_t kMostUpstreams = 200;  // for each moment: the busiest

  // The metrics must outlive this.
  explicit Figures(Metrics& metrics) : metrics_(metrics) {}
  Figures(const Figures&) = delete;
  Figures& operator=(const Figures&) = delete;

  // To be called every few seconds. Looks at the counters if the last look was at least `kStep` ago.
  void look(Clock::Wall now);

  struct Moment {
    Clock::Wall at;
    std::chrono::duration<double> since_last;
    Figure figure;
  };
  // Return the figures of all requests of clients, or of the requests to one upstream, the oldest first. Moments
  // without requests are included.
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
    std::map<std::string, Figure, std::less<>> upstreams;  // those with requests
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
