#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>

#include "base/clock.hpp"
#include "base/log/line_limit.hpp"

namespace proteus {

// Why a request was rejected.
enum class RefusalReason : std::uint8_t {
  token,         // no usable bearer token
  rule,          // a valid token, but no rule for its claims
  admin_secret,  // no valid admin credentials, or read-only ones
  host,
  origin,
  context,  // does not exist, or not for this caller
  scope,    // the token lacks a scope that the request needs
  limit,
  malformed,  // not HTTP that this server accepts
};
inline constexpr std::array kRefusalReasons = {RefusalReason::token, RefusalReason::rule,   RefusalReason::admin_secret,
                                               RefusalReason::host,  RefusalReason::origin, RefusalReason::context,
                                               RefusalReason::scope, RefusalReason::limit,  RefusalReason::malformed};
std::string_view to_string(RefusalReason reason);

// What is known about a rejected request. Nothing in it may be secret.
struct RefusedRequest {
  RefusalReason reason;
  std::string_view why = {};
  std::string_view peer = {};       // an address
  std::string_view path = {};       // without the query
  std::string_view principal = {};  // the caller
};

// The one place that rejected requests are reported to: counts them by reason and logs them. Each reason has at most
// kLinesPerMinute lines per minute, so that untrusted clients cannot fill a disk; the next line states how many were
// omitted. Thread-safe. Accepted requests never reach it.
class RefusalLog {
 public:
  static constexpr unsigned kLinesPerMinute = 10;

  // The clock must outlive the log.
  explicit RefusalLog(const Clock& clock) : clock_(clock) {}
  RefusalLog(const RefusalLog&) = delete;
  RefusalLog& operator=(const RefusalLog&) = delete;

  // Counts and logs the request. The line belongs to the module of the caller.
  void add(const RefusedRequest& refused, const std::source_location& where = std::source_location::current());
  std::uint64_t count(RefusalReason reason) const { return of(reason).refused.load(std::memory_order_relaxed); }

 private:
  struct Tally {
    std::atomic<std::uint64_t> refused = 0;
    LineLimit lines{kLinesPerMinute};
  };
  Tally& of(RefusalReason reason) { return tallies_[static_cast<std::size_t>(reason)]; }
  const Tally& of(RefusalReason reason) const { return tallies_[static_cast<std::size_t>(reason)]; }

  const Clock& clock_;
  std::array<Tally, kRefusalReasons.size()> tallies_;
};

}  // namespace proteus
