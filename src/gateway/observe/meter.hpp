#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "gateway/request/service.hpp"

// Counters of running requests: each costs an atomic addition and takes no lock. Thread-safe.
namespace proteus::gateway {

class Counter {
 public:
  void add() { value_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

// Counters of different things are on separate cache lines, so that threads do not slow each other down.
inline constexpr std::size_t kCacheLine = 64;

// A histogram of durations.
class alignas(kCacheLine) Durations {
 public:
  using Nanoseconds = std::chrono::nanoseconds;
  // Upper bounds, inclusive.
  static constexpr std::array kBounds = {
      Nanoseconds(100'000),       Nanoseconds(250'000),       Nanoseconds(500'000),       Nanoseconds(1'000'000),
      Nanoseconds(2'500'000),     Nanoseconds(5'000'000),     Nanoseconds(10'000'000),    Nanoseconds(25'000'000),
      Nanoseconds(50'000'000),    Nanoseconds(100'000'000),   Nanoseconds(250'000'000),   Nanoseconds(500'000'000),
      Nanoseconds(1'000'000'000), Nanoseconds(2'500'000'000), Nanoseconds(5'000'000'000), Nanoseconds(10'000'000'000),
      Nanoseconds(30'000'000'000)};

  void add(Nanoseconds took) {
    std::size_t bucket = 0;
    while (bucket < kBounds.size() && took > kBounds[bucket])
      ++bucket;
    buckets_[bucket].add();
    sum_.fetch_add(static_cast<std::uint64_t>(took.count()), std::memory_order_relaxed);
  }
  // The last bucket, after all bounds, counts what took longer.
  std::uint64_t bucket(std::size_t index) const { return buckets_[index].value(); }
  std::uint64_t count() const {
    std::uint64_t count = 0;
    for (const Counter& bucket : buckets_)
      count += bucket.value();
    return count;
  }
  Nanoseconds sum() const { return Nanoseconds(sum_.load(std::memory_order_relaxed)); }

 private:
  std::array<Counter, kBounds.size() + 1> buckets_;
  std::atomic<std::uint64_t> sum_ = 0;
};

// How a request to an upstream ended.
enum class UpstreamOutcome : std::uint8_t {
  ok,
  tool_error,
  cancelled,
  connect,
  timeout,
  http,
  protocol,
  upstream,
  circuit
};
inline constexpr std::array kUpstreamOutcomes = {
    UpstreamOutcome::ok,       UpstreamOutcome::tool_error, UpstreamOutcome::cancelled,
    UpstreamOutcome::connect,  UpstreamOutcome::timeout,    UpstreamOutcome::http,
    UpstreamOutcome::protocol, UpstreamOutcome::upstream,   UpstreamOutcome::circuit};
std::string_view to_string(UpstreamOutcome outcome);
UpstreamOutcome outcome_of(const UpstreamRequest& request);
constexpr bool is_error(UpstreamOutcome outcome) {
  return outcome != UpstreamOutcome::ok && outcome != UpstreamOutcome::tool_error &&
         outcome != UpstreamOutcome::cancelled;
}

// The methods of requests to upstreams that are counted one by one.
inline constexpr std::array kForwarded = {mcp::Method::tools_list,     mcp::Method::tools_call,
                                          mcp::Method::prompts_list,   mcp::Method::prompts_get,
                                          mcp::Method::resources_list, mcp::Method::resource_templates_list,
                                          mcp::Method::resources_read, mcp::Method::complete};
// Returns the method's index in kForwarded; for any other method, the size of kForwarded.
std::size_t forwarded_index(mcp::Method method);

// The counters of one upstream. Stays the same when the upstream is replaced by another of its name.
class alignas(kCacheLine) UpstreamMeter {
 public:
  explicit UpstreamMeter(std::string upstream) : upstream_(std::move(upstream)) {}

  void count(const UpstreamRequest& request);
  void count_refresh(bool ok) { (ok ? refreshes_ok_ : refreshes_failed_).add(); }

  const std::string& upstream() const { return upstream_; }
  std::uint64_t requests(UpstreamOutcome outcome) const { return outcomes_[static_cast<std::size_t>(outcome)].value(); }
  // Returns the total time of all requests that were sent.
  Durations::Nanoseconds time() const { return Durations::Nanoseconds(time_.load(std::memory_order_relaxed)); }
  std::uint64_t timed() const;
  std::uint64_t refreshes(bool ok) const { return (ok ? refreshes_ok_ : refreshes_failed_).value(); }

  // Counters of requests while the upstream was listed live.
  struct Direct {
    std::array<Counter, kForwarded.size() + 1> methods;
    std::array<Counter, kUpstreamOutcomes.size()> outcomes;
    Durations latency;
  };
  // Returns null if it never was.
  const Direct* direct() const { return direct_.load(std::memory_order_acquire); }
  // To be called before such requests are counted.
  void allow_direct();

 private:
  const std::string upstream_;
  std::array<Counter, kUpstreamOutcomes.size()> outcomes_;
  std::atomic<std::uint64_t> time_ = 0;
  Counter refreshes_ok_;
  Counter refreshes_failed_;
  std::unique_ptr<Direct> owned_;
  std::atomic<Direct*> direct_ = nullptr;
};

}  // namespace proteus::gateway
