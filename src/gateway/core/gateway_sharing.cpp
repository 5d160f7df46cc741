// Keeps the lists of upstreams in the store: for the next start, and for other processes that serve the same upstreams.
#include <algorithm>
#include <set>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log/log.hpp"
#include "gateway/core/gateway.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

constexpr std::string_view kLease = "upstream ";

std::string lease_of(const std::string& upstream) { return std::string(kLease) + upstream; }

}  // namespace

// Whether one process reads the lists for all. Lists that are read live for callers, or again on use, are read by the
// process that needs them.
bool Gateway::is_shared(const providers::UpstreamSettings& settings) {
  return settings.refresh_strategy != providers::RefreshStrategy::direct_proxy && settings.ttl.count() == 0;
}

Task<> Gateway::share_watching(const std::vector<ServedUpstream>& fresh) {
  if (options_.leases == nullptr) co_return;
  std::set<std::string> names;
  const auto table = tables_.get();
  for (const auto& served : table->order) {
    if (is_shared(served->settings()) && !served->waits_for_callers()) names.insert(lease_of(served->settings().name));
  }
  options_.leases->set_on_change([this](const std::string& lease, bool held) { watch(lease, held); });
  options_.leases->set_is_busy([this](const std::string& lease) { return is_busy(lease.substr(kLease.size())); });
  options_.leases->set_on_live([this](std::size_t count) { quotas_.set_processes(count); });
  co_await options_.leases->want(std::move(names));
  // New upstreams have missed the callbacks for leases that were taken before.
  for (const auto& served : fresh)
    served->set_leading(options_.leases->holds(lease_of(served->settings().name)));
}

void Gateway::watch(const std::string& lease, bool held) {
  const auto table = tables_.get();
  const ServedUpstream* const served = table->find(lease.substr(kLease.size()));
  if (served == nullptr) return;
  log::debug("upstream {} is watched {}", (*served)->settings().label(), held ? "here" : "by another process");
  if (held) return background_.spawn("beginning to watch", begin_watching((*served)->settings().name));
  (*served)->set_leading(false);
  // Takes over what the other process stored before this one noticed the loss of the lease.
  const auto take = [](Gateway& gateway, std::string name) -> Task<> {
    const auto followed = co_await gateway.follow_lists(name);
    if (followed) co_return;
    log::warning("what upstream {} lists is not known: {}", name, followed.error().message());
    gateway.unread_.insert(name);
  };
  background_.spawn("taking over lists", take(*this, (*served)->settings().name));
}

Task<> Gateway::begin_watching(std::string upstream) {
  const auto turn = co_await changes_.take();
  const auto table = tables_.get();
  if (const ServedUpstream* const served = table->find(upstream)) co_await begin_watching_in_turn(*served);
}

Task<> Gateway::begin_watching_in_turn(ServedUpstream served) {
  const std::string& upstream = served->settings().name;
  const bool only_follows = served->is_watched() && !served->reads_lists();
  if (!served->reads_lists()) {
    if (const auto taken = co_await take_stored(served); !taken) {
      log::warning("what upstream {} listed is not known: {}", upstream, taken.error().message());
      unread_.insert(upstream);
    }
  }
  // The lease may have been lost meanwhile.
  const bool held = options_.leases->holds(lease_of(upstream));
  served->set_leading(held);
  // Otherwise the lists are read at once, because the connection is new or was paused.
  if (held && (only_follows || served->is_forgotten())) read_again(std::move(served));
}

// What was left before this process started is ended at start-up.
void Gateway::end_sessions_of_gone(const std::vector<store::MemberRecord>& members) {
  std::set<std::string> gone;
  for (const auto& member : members) {
    if (member.name != options_.leases->owner() && ParkedSessions::is_gone(member)) gone.insert(member.name);
  }
  const bool more = !std::ranges::includes(gone_, gone);
  gone_ = std::move(gone);
  if (more && ended_left_) parked_sessions_.end_left(tables_.get(), http_of(control()));
}

Task<Result<std::shared_ptr<void>>> Gateway::lead(std::string upstream, std::uint64_t instance) {
  co_return co_await asio::co_spawn(control(), take_lead(std::move(upstream), instance), asio::use_awaitable);
}

Task<Result<std::shared_ptr<void>>> Gateway::take_lead(std::string upstream, std::uint64_t instance) {
  ++refreshing_[upstream];
  // Posted after `keep`, so that the upstream stays busy until its lists are stored.
  std::shared_ptr<void> refreshing(nullptr, [this, upstream](void*) {
    asio::post(control(), [this, upstream] {
      if (--refreshing_.at(upstream) == 0) refreshing_.erase(upstream);
    });
  });
  const std::string lease = lease_of(upstream);
  const auto before = options_.leases->fence(lease);
  if (auto taken = co_await options_.leases->take(lease); !taken) co_return std::unexpected(std::move(taken).error());
  const auto is_old = before == options_.leases->fence(lease);
  const auto find = [&](const UpstreamTable& table) {
    const ServedUpstream* const found = table.find(upstream);
    return found != nullptr && found->instance == instance ? *found : ServedUpstream{};
  };
  if (const auto served = find(*tables_.get()); is_old && served && served->reads_lists()) co_return refreshing;
  const auto turn = co_await changes_.take();
  const auto served = find(*tables_.get());
  if (!served) co_return std::unexpected(errors::cancelled("the refresh"));
  co_await begin_watching_in_turn(served);
  co_return refreshing;
}

bool Gateway::is_busy(const std::string& upstream) const {
  return refreshing_.contains(upstream) || unkept_.contains(upstream) || keeping_.contains(upstream);
}

std::optional<store::Fence> Gateway::fence_of(const std::string& upstream) const {
  return options_.leases->fence(lease_of(upstream));
}

void Gateway::keep_soon(const std::string& upstream) {
  if (keeping_.insert(upstream).second) background_.spawn("keeping lists", keep(upstream));
}

// Stores one list after the other, and always the newest: nothing is stored after something newer, and large lists are
// not held twice if the store rejects them.
Task<> Gateway::keep(std::string upstream) {
  const std::shared_ptr<void> ended(nullptr, [&](void*) { keeping_.erase(upstream); });
  while (unkept_.erase(upstream) > 0) {
    const auto table = tables_.get();
    const ServedUpstream* const served = table->find(upstream);
    if (served == nullptr) co_return;
    auto listed = co_await asio::co_spawn((*served)->io(), (*served)->lists_to_keep(), asio::use_awaitable);
    if (listed.records.empty()) continue;
    store::Writes writes;
    for (auto& record : listed.records)
      writes.emplace_back(store::PutSnapshot{std::move(record), listed.fence});
    const auto written = co_await store_.write(std::move(writes));
    if (written) continue;
    // The store accepts lists of shared upstreams only from the holder of the lease.
    const bool lost = listed.fence && written.error().kind() == ErrorKind::conflict;
    log::at(lost ? log::Level::debug : log::Level::warning, "what upstream {} listed is not kept: {}", upstream,
            written.error().message());
    if (!lost) {
      unkept_.insert(upstream);
      co_return;
    }
    co_await look_who_watches(*served);
  }
}

// Checks who holds the lease, after another process watched the upstream and stored its lists. If this process holds it
// again, reads the lists again.
Task<> Gateway::look_who_watches(ServedUpstream served) {
  co_await options_.leases->look();
  if (!options_.leases->holds(lease_of(served->settings().name))) co_return;
  served->forget_kept();
  read_again(std::move(served));
}

void Gateway::read_again(ServedUpstream served) {
  const auto read = [](ServedUpstream one) -> Task<> { co_await one->announced(); };
  background_.spawn("reading lists for the store", read(std::move(served)));
}

Task<Result<>> Gateway::follow_lists(std::string upstream) {
  const auto turn = co_await changes_.take();
  const auto table = tables_.get();
  const ServedUpstream* const served = table->find(upstream);
  if (served == nullptr) co_return Result<>{};
  // Either this process stored the lists, or another one has taken the lease.
  if ((*served)->reads_lists() && options_.leases->holds(lease_of(upstream))) co_await options_.leases->look();
  if ((*served)->reads_lists()) co_return Result<>{};
  co_return co_await take_stored(*served);
}

Task<Result<>> Gateway::take_stored(ServedUpstream served) {
  auto records = co_await store_.snapshots_of(served->settings().name);
  if (!records) co_return std::unexpected(std::move(records.error()));
  if (records->empty()) co_return Result<>{};
  const auto published =
      co_await asio::co_spawn(served->io(), served->restore(std::move(*records)), asio::use_awaitable);
  if (published) announce(*published, ChangedBy::another);
  if (published && changes_resources(*published)) look_for_followed();
  co_return Result<>{};
}

Task<> Gateway::take_unread(std::string upstream) {
  const auto turn = co_await changes_.take();
  const auto table = tables_.get();
  const ServedUpstream* const served = table->find(upstream);
  if (served != nullptr && !co_await take_stored(*served)) unread_.insert(std::move(upstream));
}

Task<Result<>> Gateway::follow_pins(std::string upstream) {
  const auto table = tables_.get();
  const ServedUpstream* const served = table->find(upstream);
  if (served == nullptr || !(*served)->pins()) co_return Result<>{};
  bool changed = false;
  {
    const auto turn = co_await changes_.take();
    const auto records = co_await store_.pins_of(upstream);
    if (!records) co_return std::unexpected(records.error());
    for (const auto& record : *records) {
      if ((*served)->pins()->has(record)) continue;
      changed = true;
      if (const auto taken = (*served)->pins()->take(record); !taken)
        log::error("upstream {}: a decision does not hold: {}", upstream, taken.error().message());
    }
  }
  if (!changed) co_return Result<>{};
  if (!(*served)->reads_lists()) co_return co_await follow_lists(upstream);
  // Whether or not the upstream answers, the decision applies from the next reading on.
  const auto refresh = [](ServedUpstream one) -> Task<> { (void)co_await one->refresh(); };
  background_.spawn("reading what was ratified", refresh(*served));
  co_return Result<>{};
}

}  // namespace proteus::gateway
