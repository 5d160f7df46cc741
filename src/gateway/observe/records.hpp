#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "gateway/observe/meter.hpp"

namespace proteus::gateway {

// A call that went to an upstream, without arguments and results.
struct CallRecord {
  std::uint64_t number = 0;  // counts up
  Clock::Wall at;            // when it ended
  std::string upstream;
  std::string principal;  // empty for callers without a token
  std::string context;
  mcp::Method method = mcp::Method::tools_call;
  std::string name;  // as the caller named it
  UpstreamOutcome outcome = UpstreamOutcome::ok;
  std::chrono::nanoseconds took{};
};

// The last calls of each upstream, in memory. A busy upstream does not displace the calls of others. Thread-safe.
class Records {
 public:
  static constexpr std::size_t kOfUpstream = 100;
  static constexpr std::size_t kMostUpstreams = 2000;  // beyond that, the least recently called one is dropped
  static constexpr std::size_t kLongestName = 200;     // bytes; the rest is cut off

  // The clock must outlive it.
  explicit Records(const Clock& clock) : clock_(clock) {}
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;

  // Does not record requests without a call, such as those for live lists.
  void add(const UpstreamRequest& request);

  // Returns the newest first: of one upstream, or of all.
  std::vector<CallRecord> newest(const std::optional<std::string>& upstream, std::size_t limit) const;

 private:
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::map<std::string, std::deque<CallRecord>, std::less<>> by_upstream_;
};

}  // namespace proteus::gateway
