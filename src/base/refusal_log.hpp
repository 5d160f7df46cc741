#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>

#include "base/clock.hpp"
#include "base/line_limit.hpp"

namespace proteus {

// Why a request was turned away instead of being served.
enum class RefusalReason : std::uint8_t {
  token,         // no bearer token, or one that nobody knows
  rule,          // a good token, and no rule for its claims
  admin_secret,  // the same of X-Admin-Secret
  host,
  origin,
  context,  // there is none of that name, or not for this caller
  scope,    // the token lacks one that the request needs
  limit,
  malformed,  // not HTTP as this server takes it
};
inline constexpr std::array kRefusalReasons = {RefusalReason::token, RefusalReason::rule,   RefusalReason::admin_secret,
                                               RefusalReason::host,  RefusalReason::origin, RefusalReason::context,
                                               RefusalReason::scope, RefusalReason::limit,  RefusalReason::malformed};
std::string_view to_string(RefusalReason reason);

// A refused request, as far as it is known. Nothing in it may be secret.
struct RefusedRequest {
  RefusalReason reason;
  std::string_view why = {};
  std::string_view peer = {};       // an address
  std::string_view path = {};       // without the query
  std::string_view principal = {};  // who asked
};

// The one place that refused requests are reported to: it counts them by reason and logs them. Each reason has at most
// kLinesPerMinute lines, so that strangers cannot fill a disk; the next line says how many were left out. Thread-safe.
// A request that is served never gets here.
class RefusalLog {
 public:
  static constexpr unsigned kLinesPerMinute = 10;

  // The clock outlives it.
  explicit RefusalLog(const Clock& clock) : clock_(clock) {}
  RefusalLog(const RefusalLog&) = delete;
  RefusalLog& operator=(const RefusalLog&) = delete;

  // The line belongs to the module of the caller.
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
