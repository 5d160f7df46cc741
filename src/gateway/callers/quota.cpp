#include "gateway/callers/quota.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/memory/memory.hpp"
#include "mcp/over_limit.hpp"

namespace proteus::gateway {
namespace {

// When to retry after too many calls or streams at once. Nobody knows when one will end.
constexpr std::chrono::seconds kSoon{1};
// An agent that guesses names must not make the gateway read lists without end.
constexpr unsigned kLooksPerMinute = 30;

}  // namespace

Quota::Quota(const QuotaLimits& limits, std::string principal, RefusalLog& refusals,
             const std::atomic<unsigned>& processes)
    : limits_(limits),
      principal_(std::move(principal)),
      refusals_(refusals),
      processes_(processes),
      looks_(kLooksPerMinute),
      calls_(limits.calls_per_principal),
      streams_(limits.streams_per_principal) {}

Error Quota::refusal(const std::string& why, std::chrono::seconds retry_after) {
  refusals_.add({.reason = RefusalReason::limit, .why = why, .principal = principal_});
  return mcp::errors::over_limit(why, retry_after);
}

Error Quota::too_many(unsigned per_minute, std::chrono::nanoseconds wait) {
  return refusal(fmt::format("More than {} requests within a minute; try again later", per_minute),
                 std::chrono::ceil<std::chrono::seconds>(wait));
}

unsigned Quota::share_of(unsigned per_minute) const {
  const unsigned processes = processes_.load(std::memory_order_relaxed);
  return processes == 1 ? per_minute : (per_minute + processes - 1) / processes;
}

Result<> Quota::count_request(Clock::Monotonic now, unsigned per_minute) {
  if (const auto wait = own_requests_.take(now, share_of(per_minute)); wait.count() > 0)
    return std::unexpected(too_many(per_minute, wait));
  if (const auto wait = requests_.take(now, share_of(limits_.requests_per_minute)); wait.count() > 0)
    return std::unexpected(too_many(limits_.requests_per_minute, wait));
  return {};
}

Result<ConcurrencyLimit::Pass> Quota::enter_call() {
  if (auto pass = calls_.enter()) return pass;
  return std::unexpected(
      refusal(fmt::format("{} calls are running, which is the limit", limits_.calls_per_principal), kSoon));
}

Result<ConcurrencyLimit::Pass> Quota::enter_stream() {
  if (auto pass = streams_.enter()) return pass;
  return std::unexpected(
      refusal(fmt::format("{} streams are open, which is the limit", limits_.streams_per_principal), kSoon));
}

bool Quota::is_idle(Clock::Monotonic now) const {
  return calls_.inside() == 0 && streams_.inside() == 0 && requests_.is_unused(now) && own_requests_.is_unused(now) &&
         looks_.is_unused(now);
}

std::shared_ptr<Quota> QuotaTable::get(const std::string& principal) {
  Shard& home = shards_[std::hash<std::string>{}(principal) % shards_.size()];
  const std::scoped_lock lock(home.mutex);
  if (const auto found = home.quotas.find(principal); found != home.quotas.end()) {
    if (auto known = found->second.lock()) return known;
  }
  if (home.quotas.size() >= home.sweep_above) home.sweep();
  auto made = std::make_shared<Quota>(limits_, principal, refusals_, processes_);
  home.quotas[principal] = made;
  return made;
}

bool QuotaTable::is_calling(const std::string& principal) const {
  const Shard& home = shards_[std::hash<std::string>{}(principal) % shards_.size()];
  const std::scoped_lock lock(home.mutex);
  const auto found = home.quotas.find(principal);
  const auto quota = found == home.quotas.end() ? nullptr : found->second.lock();
  return quota && quota->is_calling();
}

void QuotaTable::Shard::sweep() {
  std::erase_if(quotas, [](const auto& entry) { return entry.second.expired(); });
  let_go_of_buckets(quotas);
  sweep_above = std::max<std::size_t>(64, quotas.size() * 2);
}

void QuotaTable::sweep() {
  for (Shard& shard : shards_) {
    const std::scoped_lock lock(shard.mutex);
    shard.sweep();
  }
}

std::size_t QuotaTable::size() const {
  std::size_t all = 0;
  for (const Shard& shard : shards_) {
    const std::scoped_lock lock(shard.mutex);
    all += shard.quotas.size();
  }
  return all;
}

Quota& QuotaReader::get(const std::string& principal) {
  if (const auto found = seen_.find(principal); found != seen_.end()) return *found->second;
  if (seen_.size() >= sweep_above_) forget_idle();
  return *seen_.emplace(principal, table_.get(principal)).first->second;
}

void QuotaReader::forget_idle() {
  std::erase_if(seen_, [now = clock_.now()](const auto& entry) { return entry.second->is_idle(now); });
  let_go_of_buckets(seen_);
  sweep_above_ = std::max<std::size_t>(256, seen_.size() * 2);
}

void QuotaReader::drop_idle() {
  if (seen_.empty()) return;
  forget_idle();
  table_.sweep();
}

}  // namespace proteus::gateway
