#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/rate_limit.hpp"
#include "base/refusal_log.hpp"
#include "gateway/upstreams/concurrency_limit.hpp"

// How much one principal may ask for, so that none takes what the others need. What a call needs of it costs a look-up
// in a thread's own table and two atomic additions.
namespace proteus::gateway {

struct QuotaLimits {
  std::size_t calls_per_principal = 256;  // at once
  std::size_t calls_per_upstream = 1024;  // at once
  std::size_t streams_per_principal = 64;
  unsigned requests_per_minute = 0;  // per principal; 0: no limit
};

// What one principal uses at the moment. Thread-safe. What it refuses it reports to `refusals`, which outlives it.
class Quota {
 public:
  // `processes` is how many share the requests of a minute; outlives it.
  Quota(const QuotaLimits& limits, std::string principal, RefusalLog& refusals, const std::atomic<unsigned>& processes);

  // Fails, saying when to try again, where there have been too many: for everybody, or for whom only so many a minute
  // are meant; 0: as many as for everybody.
  Result<> count_request(Clock::Monotonic now, unsigned per_minute = 0);
  Result<ConcurrencyLimit::Pass> enter_call();
  Result<ConcurrencyLimit::Pass> enter_stream();
  // Whether lists may be read once more for a name that is in none of those remembered; counts it.
  bool may_look_again(Clock::Monotonic now) { return looks_.take(now).count() == 0; }

  bool is_idle(Clock::Monotonic now) const;

 private:
  Error refusal(const std::string& why, std::chrono::seconds retry_after);
  Error too_many(unsigned per_minute, std::chrono::nanoseconds wait);
  // Of so many, those that this process may let pass.
  unsigned share_of(unsigned per_minute) const;

  const QuotaLimits limits_;
  const std::string principal_;
  RefusalLog& refusals_;
  const std::atomic<unsigned>& processes_;
  RateLimit requests_;
  RateLimit own_requests_;  // by the principal's own limit
  RateLimit looks_;
  ConcurrencyLimit calls_;
  ConcurrencyLimit streams_;
};

// All principals', by name. Thread-safe. They are made when first needed and go when nobody holds them any more.
class QuotaTable {
 public:
  QuotaTable(QuotaLimits limits, RefusalLog& refusals) : limits_(limits), refusals_(refusals) {}

  const QuotaLimits& limits() const { return limits_; }
  // How many processes serve as one: each lets its share of a minute's requests pass.
  void set_processes(std::size_t count) { processes_ = static_cast<unsigned>(std::max<std::size_t>(count, 1)); }
  std::shared_ptr<Quota> get(const std::string& principal);
  // Forgets those that nobody holds.
  void sweep();
  std::size_t size() const;

 private:
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<std::string, std::weak_ptr<Quota>> quotas;
    std::size_t sweep_above = 64;

    void sweep();
  };

  const QuotaLimits limits_;
  RefusalLog& refusals_;
  std::atomic<unsigned> processes_ = 1;
  std::array<Shard, 16> shards_;
};

// The quotas that one thread has seen lately, so that it need not ask for them. Of that thread; the table and the clock
// outlive it.
class QuotaReader {
 public:
  QuotaReader(QuotaTable& table, const Clock& clock) : table_(table), clock_(clock) {}

  // Lives until the thread turns to something else, and for as long as it has somebody inside.
  Quota& get(const std::string& principal);
  // Lets go of those that one made anew could stand for.
  void drop_idle();

 private:
  void forget_idle();

  QuotaTable& table_;
  const Clock& clock_;
  std::unordered_map<std::string, std::shared_ptr<Quota>> seen_;
  std::size_t sweep_above_ = 256;
};

}  // namespace proteus::gateway
