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

// One call that went to an upstream. It has neither arguments nor results.
struct CallRecord {
  std::uint64_t number = 0;  // counts up
  Clock::Wall at;            // when it had ended
  std::string upstream;
  std::string principal;  // empty for callers without a token
  std::string context;
  mcp::Method method = mcp::Method::tools_call;
  std::string name;  // as the caller named it
  UpstreamOutcome outcome = UpstreamOutcome::ok;
  std::chrono::nanoseconds took{};
};

// The last calls of each upstream, in memory: a busy upstream does not push out those of another. Thread-safe.
class Records {
 public:
  static constexpr std::size_t kOfUpstream = 100;
  static constexpr std::size_t kMostUpstreams = 2000;  // beyond, the one that was called longest ago is forgotten
  static constexpr std::size_t kLongestName = 200;     // bytes; the rest is cut off

  // The clock outlives it.
  explicit Records(const Clock& clock) : clock_(clock) {}
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;

  // Requests that no caller made are not recorded.
  void add(const UpstreamRequest& request);

  // The newest first: of one upstream, or of all.
  std::vector<CallRecord> newest(const std::optional<std::string>& upstream, std::size_t limit) const;

 private:
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::map<std::string, std::deque<CallRecord>, std::less<>> by_upstream_;
};

}  // namespace proteus::gateway
