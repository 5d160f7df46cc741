#include "gateway/connections/programs.hpp"

#include <chrono>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "gateway/connections/worker.hpp"
#include "mcp/over_limit.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

// Suggested wait before a retry. Programs run for minutes.
constexpr std::chrono::seconds kLater{30};

Task<std::optional<Clock::Monotonic>> idle_since(Worker& worker, std::optional<std::uint64_t> instance) {
  co_return worker.longest_idle_program(instance);
}

}  // namespace

void Programs::set_workers(std::vector<Worker*> workers) {
  workers_ = std::move(workers);
  for (Worker* worker : workers_)
    worker->set_programs(*this);
}

std::size_t Programs::running() const {
  const std::scoped_lock lock(mutex_);
  return running_;
}

bool Programs::has_room(std::uint64_t instance, std::size_t count) const {
  const std::scoped_lock lock(mutex_);
  const auto own = by_upstream_.find(instance);
  const std::size_t of_upstream = own == by_upstream_.end() ? 0 : own->second;
  return of_upstream + count <= limits_.per_upstream && running_ + count <= limits_.total;
}

Programs::Full Programs::how_full(std::uint64_t instance) const {
  const auto own = by_upstream_.find(instance);
  if (own != by_upstream_.end() && own->second >= limits_.per_upstream) return Full::of_upstream;
  return running_ >= limits_.total ? Full::in_all : Full::not_yet;
}

Programs::Full Programs::count(std::uint64_t instance) {
  const std::scoped_lock lock(mutex_);
  const Full full = how_full(instance);
  if (full != Full::not_yet) return full;
  ++running_;
  ++by_upstream_[instance];
  return Full::not_yet;
}

void Programs::give_back(std::uint64_t instance) {
  const std::scoped_lock lock(mutex_);
  --running_;
  const auto own = by_upstream_.find(instance);
  if (--own->second == 0) by_upstream_.erase(own);
}

Task<Result<std::shared_ptr<void>>> Programs::take(std::uint64_t instance) {
  for (;;) {
    const Full full = count(instance);
    if (full == Full::not_yet) {
      co_return std::shared_ptr<void>(nullptr, [this, instance](void*) { give_back(instance); });
    }
    const bool ended = co_await end_one(full == Full::of_upstream ? std::optional(instance) : std::nullopt);
    if (!ended) co_return std::unexpected(refusal(full));
  }
}

Task<bool> Programs::end_one(std::optional<std::uint64_t> instance) {
  Worker* owner = nullptr;
  std::optional<Clock::Monotonic> longest;
  for (Worker* worker : workers_) {
    const auto since = co_await asio::co_spawn(worker->io(), idle_since(*worker, instance), asio::use_awaitable);
    if (!since || (longest && *longest <= *since)) continue;
    longest = since;
    owner = worker;
  }
  if (owner == nullptr) co_return false;
  co_return co_await asio::co_spawn(owner->io(), owner->end_longest_idle_program(instance), asio::use_awaitable);
}

Error Programs::refusal(Full full) const {
  if (full == Full::of_upstream) {
    return mcp::errors::over_limit(
        fmt::format("{} programs run for its callers, all of them in use, and no more are allowed by "
                    "limits.programs_per_upstream",
                    limits_.per_upstream),
        kLater);
  }
  return mcp::errors::over_limit(
      fmt::format("{} programs run for callers of all upstreams, all of them in use, and no more are allowed by "
                  "limits.programs",
                  limits_.total),
      kLater);
}

}  // namespace proteus::gateway
