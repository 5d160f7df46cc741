#include "cluster/leases.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log/log.hpp"

namespace proteus::cluster {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kForgottenAtOnce = 100;

// Puts the names into an order that is different for each process, so that processes seldom try to take the same ones.
void shuffle(std::vector<std::string>& names, const std::string& owner) {
  std::ranges::sort(names, {}, [&](const std::string& name) { return std::hash<std::string>{}(owner + '\n' + name); });
}

}  // namespace

Leases::Leases(asio::io_context& io, store::Store& store, const Member& member)
    : io_(io), store_(store), member_(member), tasks_(io.get_executor()), timer_(io) {}

std::optional<store::Fence> Leases::fence(const std::string& name) const {
  const std::scoped_lock lock(mutex_);
  const auto found = held_.find(name);
  if (found == held_.end()) return std::nullopt;
  return store::Fence{name, found->second};
}

std::size_t Leases::size() const {
  const std::scoped_lock lock(mutex_);
  return held_.size();
}

void Leases::set_held(Held held) {
  std::vector<std::pair<std::string, bool>> changes;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [name, token] : held_) {
      if (!held.contains(name)) changes.emplace_back(name, false);
    }
    for (const auto& [name, token] : held) {
      if (!held_.contains(name)) changes.emplace_back(name, true);
    }
    held_ = std::move(held);
  }
  for (const auto& [name, is_held] : changes) {
    if (on_change_) on_change_(name, is_held);
  }
}

void Leases::add_held(const std::vector<store::LeaseRecord>& taken) {
  Held held;
  {
    const std::scoped_lock lock(mutex_);
    held = held_;
  }
  for (const auto& lease : taken)
    held.insert_or_assign(lease.name, lease.token);
  set_held(std::move(held));
}

Task<> Leases::want(std::set<std::string> names) {
  wanted_ = std::move(names);
  is_changed_ = true;
  co_await look();
}

void Leases::start() { tasks_.spawn("leases", run()); }

Task<> Leases::run() {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  while (!stopped_) {
    timer_.expires_after(member_.options().attend_every);
    boost::system::error_code ignored;
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    if (!stopped_) co_await look();
  }
}

Task<> Leases::stop() {
  stopped_ = true;
  timer_.cancel();
  co_await tasks_.join();
}

Task<> Leases::look() {
  if (std::exchange(looking_, true)) co_return;
  const std::shared_ptr<void> ended(nullptr, [this](void*) { looking_ = false; });
  do {
    is_changed_ = false;
    co_await look_once();
  } while (is_changed_);
}

// If the store cannot be read, everything stays as it is: a process that lost a lease cannot store what it finds.
Task<> Leases::look_once() {
  const std::string& self = member_.options().name;
  const std::uint64_t takes = takes_;
  const auto members = co_await store_.members();
  const auto leases = members ? co_await store_.leases() : std::unexpected(members.error());
  if (!leases) co_return log::debug("leases cannot be read: {}", leases.error().message());
  for (const auto& on_members : on_members_)
    on_members(*members);
  // The lists may be older than a lease that was taken meanwhile.
  if (takes != takes_) co_return;
  std::set<std::string_view> live = {self};
  for (const auto& member : *members) {
    if (member_.lives(member)) live.insert(member.name);
  }
  if (on_live_) on_live_(live.size());
  Held held;
  std::set<std::string> taken;
  std::vector<std::string> released;
  for (const auto& lease : *leases) {
    if (lease.owner == self && wanted_.contains(lease.name)) held.emplace(lease.name, lease.token);
    if (lease.owner == self && !wanted_.contains(lease.name)) released.push_back(lease.name);
    if (live.contains(lease.owner)) taken.insert(lease.name);
  }
  const std::size_t share = (wanted_.size() + live.size() - 1) / live.size();
  std::vector<std::string> free;
  std::ranges::copy_if(wanted_, std::back_inserter(free), [&](const auto& name) { return !taken.contains(name); });
  shuffle(free, self);
  const auto now = member_.now();
  const auto free_before = std::exchange(free_, {});
  for (const auto& name : free) {
    const auto known = free_before.find(name);
    free_.emplace(name, known == free_before.end() ? now : known->second);
  }
  std::erase_if(beyond_, [&](const auto& name) { return !held.contains(name); });
  std::size_t room = share > held.size() ? share - held.size() : 0;
  // Leases that nobody took for a while are taken beyond the share, because not every process wants the same ones.
  std::erase_if(free, [&](const auto& name) {
    if (room > 0) return --room, false;
    if (!free_before.contains(name) || now - free_.at(name) < 2 * member_.options().attend_every) return true;
    beyond_.insert(name);
    return false;
  });
  if (free.size() > store::limits::kLeases) free.resize(store::limits::kLeases);
  std::size_t excess = held.size() - std::min(held.size(), share + beyond_.size());
  std::erase_if(held, [&](const auto& entry) {
    if (excess == 0 || beyond_.contains(entry.first) || is_busy_(entry.first)) return false;
    --excess;
    released.push_back(entry.first);
    return true;
  });
  if (released.size() > store::limits::kLeases) released.resize(store::limits::kLeases);
  set_held(std::move(held));
  store::Writes writes;
  for (const auto& member : *members) {
    if (member.name != self && member.unseen >= member_.options().forget && writes.size() < kForgottenAtOnce)
      writes.emplace_back(store::Leave{member.name});
  }
  if (!released.empty()) writes.emplace_back(store::ReleaseLeases{self, std::move(released)});
  if (!free.empty()) writes.emplace_back(store::TakeLeases{self, std::move(free), member_.options().patience});
  if (writes.empty()) co_return;
  const auto written = co_await store_.write(std::move(writes));
  if (!written) co_return log::debug("leases cannot be taken: {}", written.error().message());
  add_held(written->leases);
}

Task<Result<>> Leases::take(std::string name) {
  co_return co_await asio::co_spawn(io_, do_take(std::move(name)), asio::use_awaitable);
}

Task<Result<>> Leases::do_take(std::string name) {
  store::Writes writes;
  writes.emplace_back(store::TakeLeases{member_.options().name, {std::move(name)}, std::chrono::microseconds(0)});
  const auto written = co_await store_.write(std::move(writes));
  if (!written) co_return std::unexpected(written.error());
  ++takes_;
  add_held(written->leases);
  co_return Result<>{};
}

}  // namespace proteus::cluster
