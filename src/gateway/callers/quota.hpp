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
#include "base/log/rate_limit.hpp"
#include "base/log/refusal_log.hpp"
#include "gateway/upstreams/concurrency_limit.hpp"

// Limits for each principal, so that none takes what the others need. For a call, they cost a look-up in the thread's
// own table and two atomic additions.
namespace proteus::gateway {

struct QuotaLimits {
  std::size_t calls_per_principal = 256;  // at once
  std::size_t calls_per_upstream = 1024;  // at once
  std::size_t streams_per_principal = 64;
  unsigned requests_per_minute = 0;  // per principal; 0: no limit
};

// What one principal currently uses of its limits. Thread-safe. Reports rejections to `refusals`, which must outlive
// it.
class Quota {
 public:
  // `processes` is the number of processes that share the requests of a minute; must outlive it.
  Quota(const QuotaLimits& limits, std::string principal, RefusalLog& refusals, const std::atomic<unsigned>& processes);

  // Counts a request. Fails, with the time to retry after, if there were too many within a minute: by the limit for
  // everybody, or by `per_minute`, the principal's own limit (0 for none).
  Result<> count_request(Clock::Monotonic now, unsigned per_minute = 0);
  Result<ConcurrencyLimit::Pass> enter_call();
  Result<ConcurrencyLimit::Pass> enter_stream();
  // Counts an attempt to read lists again for a name that no remembered list has. Returns whether it is allowed.
  bool may_look_again(Clock::Monotonic now) { return looks_.take(now).count() == 0; }

  bool is_idle(Clock::Monotonic now) const;
  bool is_calling() const { return calls_.inside() > 0; }

 private:
  Error refusal(const std::string& why, std::chrono::seconds retry_after);
  Error too_many(unsigned per_minute, std::chrono::nanoseconds wait);
  // Returns this process's share of a limit.
  unsigned share_of(unsigned per_minute) const;

  const QuotaLimits limits_;
  const std::string principal_;
  RefusalLog& refusals_;
  const std::atomic<unsigned>& processes_;
  RateLimit requests_;
  RateLimit own_requests_;  // for the principal's own limit
  RateLimit looks_;
  ConcurrencyLimit calls_;
  ConcurrencyLimit streams_;
};

// The quotas of all principals, by key. Thread-safe. A quota is made when it is first needed, and ends with its last
// holder.
class QuotaTable {
 public:
  QuotaTable(QuotaLimits limits, RefusalLog& refusals) : limits_(limits), refusals_(refusals) {}

  // Sets the number of processes that serve as one. Each allows its share of a minute's requests.
  void set_processes(std::size_t count) { processes_ = static_cast<unsigned>(std::max<std::size_t>(count, 1)); }
  std::shared_ptr<Quota> get(const std::string& principal);
  // Returns whether a call of this principal is running.
  bool is_calling(const std::string& principal) const;
  // Forgets quotas that nobody holds.
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

// One thread's cache of the quotas that it used lately. Belongs to that thread; the table and the clock must outlive
// it.
class QuotaReader {
 public:
  QuotaReader(QuotaTable& table, const Clock& clock) : table_(table), clock_(clock) {}

  // Returns a quota that lives until the next call of a function here, and for as long as anyone has a pass of it.
  Quota& get(const std::string& principal);
  // Releases quotas that are as good as new.
  void drop_idle();

 private:
  void forget_idle();

  QuotaTable& table_;
  const Clock& clock_;
  std::unordered_map<std::string, std::shared_ptr<Quota>> seen_;
  std::size_t sweep_above_ = 256;
};

}  // namespace proteus::gateway
