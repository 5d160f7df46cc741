// The offer of an upstream: what is served of it, and what of that a person has ratified. Works in the background.
#include <algorithm>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "json/message.hpp"
#include "providers/kept_lists.hpp"
#include "providers/upstream.hpp"

namespace proteus::providers {
namespace {

// Definitions are parsed, written in their canonical form and hashed, which takes as long as reading their bytes this
// many times. At start-up the lists of a thousand upstreams arrive at once, and callers' requests queue with them.
constexpr std::size_t kWorkOfDefinitions = 8;

std::string counts_of(const catalog::Snapshot& snapshot) {
  return fmt::format("{} tools, {} prompts, {} resources", snapshot.list(catalog::Kind::tool).size(),
                     snapshot.list(catalog::Kind::prompt).size(), snapshot.list(catalog::Kind::resource).size());
}

// Compares what is kept of two snapshots.
bool lists_the_same(const catalog::Snapshot& before, const catalog::Snapshot& after) {
  const auto& was = before.facts();
  const auto& is = after.facts();
  return was.instructions == is.instructions && was.capabilities == is.capabilities &&
         was.server_info == is.server_info && std::ranges::all_of(catalog::kKinds, [&](catalog::Kind kind) {
           return before.lists()[kind] == after.lists()[kind];
         });
}

// Returns what is kept of a snapshot, with the ratified definition in place of the one of that name.
std::vector<store::SnapshotRecord> records_with(const catalog::Snapshot& base, const client::ServerFacts& said,
                                                const std::optional<Upstream::Proposed>& ratified) {
  auto records = keep_lists(base, said, {});
  if (!ratified) return records;
  std::string entries = "[" + ratified->text;
  for (const auto& definition : base.list(ratified->kind).definitions()) {
    if (definition.own != ratified->own) entries += "," + catalog::original_text(ratified->kind, definition);
  }
  const auto record = std::ranges::find(records, catalog::info(ratified->kind).plural, &store::SnapshotRecord::kind);
  record->entries = entries + "]";
  return records;
}

}  // namespace

catalog::NameRules name_rules(const UpstreamSettings& settings) {
  const bool portable = settings.names == NameStyle::portable;
  return {.prefix = settings.effective_prefix(),
          .style = portable ? catalog::NameStyle::portable : catalog::NameStyle::as_is};
}

OfferMaker Upstream::offer_maker(const std::shared_ptr<const client::ServerFacts>& said) const {
  catalog::ListLimits limits = dependencies_.limits.definitions;
  const auto side = legacy_side();
  const bool tasks = (said && said->offers.tasks) || (side && side->facts->offers.tasks);
  limits.tasks = tasks ? catalog::Tasks::spoken : catalog::Tasks::not_spoken;
  return {.upstream = name_,
          .rules = rules_,
          .limits = limits,
          .pins = dependencies_.pins,
          .shape = shape_,
          .live = is_direct()};
}

Task<Result<catalog::SnapshotPointer>> Upstream::imagine(UpstreamSettings other, std::optional<Proposed> ratified) {
  const auto said = facts();
  const Offer now = co_await boost::asio::co_spawn(dependencies_.io, offer_now(), boost::asio::use_awaitable);
  // Without a pin all that is listed is served, even if nobody ratified it; with a pin only what is ratified.
  const bool pinned = other.trust == Trust::pin;
  const catalog::SnapshotPointer base = !pinned && now.listed ? now.listed : now.trusted;
  if (!said || !base || (pinned && !pins())) co_return nullptr;
  OfferMaker maker = offer_maker(said);
  maker.rules = name_rules(other);
  maker.shape = shape_of(other.tools);
  maker.pins = nullptr;
  maker.live = false;
  const std::size_t bytes = Offer{nullptr, nullptr, base}.size();
  auto made = co_await dependencies_.background.run(
      bytes * kWorkOfDefinitions, [maker = std::move(maker), base, said, ratified] {
        return maker.restore(base->version(), records_with(*base, *said, ratified));
      });
  if (!made) co_return std::unexpected(std::move(made.error()));
  co_return std::move(made->served);
}

Task<Result<catalog::DefinitionList::Pointer>> Upstream::read_list(catalog::Kind kind,
                                                                   std::shared_ptr<const void> bytes,
                                                                   std::vector<std::string_view> texts) const {
  std::size_t size = 0;
  for (const std::string_view text : texts)
    size += text.size();
  co_return co_await dependencies_.background.run(size, [maker = offer_maker(facts()), kind, bytes = std::move(bytes),
                                                         texts = std::move(texts)] { return maker.list(kind, texts); });
}

Task<Result<catalog::DefinitionList::Pointer>> Upstream::read_list(catalog::Kind kind,
                                                                   std::shared_ptr<const void> bytes,
                                                                   std::string_view array) const {
  co_return co_await dependencies_.background.run(
      array.size(),
      [maker = offer_maker(facts()), kind, bytes = std::move(bytes),
       array]() -> Result<catalog::DefinitionList::Pointer> {
        const auto texts = json::elements_of(array, catalog::ListLimits{}.definitions);
        if (!texts) return std::unexpected(errors::protocol("the answer is not a list"));
        return maker.list(kind, *texts);
      });
}

Task<std::optional<catalog::Publication>> Upstream::restore(std::vector<store::SnapshotRecord> records) {
  if (is_direct()) co_return std::nullopt;
  if (dependencies_.shared) learn_from(records);
  std::size_t bytes = 0;
  for (const auto& record : records)
    bytes += record.entries.size();
  const auto lock = co_await offering_.take();
  // What this process has read is newer. If another process watches the upstream by now, what that one stored is newer.
  if (has_read_ && reads_lists()) co_return std::nullopt;
  const std::uint64_t version = ++version_;
  auto restored = co_await dependencies_.background.run(
      bytes * kWorkOfDefinitions, [maker = offer_maker(facts()), version, records = std::move(records)] {
        return maker.restore(version, records);
      });
  if (!restored) {
    log::warning("what was kept of upstream {} is not used: {}", settings_.label(), restored.error().message());
    co_return std::nullopt;
  }
  end_in_background(*restored);
  auto published = co_await publish(restored->served);
  if (!published) {
    log::warning("upstream {}: {}", settings_.label(), published.error().message());
    co_return std::nullopt;
  }
  offer_ = std::move(*restored);
  read_by_.reset();
  is_forgotten_ = false;
  if (dependencies_.shared) {
    note_offer();
    if (dependencies_.pins) report_pins();
  }
  co_return std::move(*published);
}

// If another process reads the upstream, what the server said to that process is learned from what the process stored.
void Upstream::learn_from(const std::vector<store::SnapshotRecord>& records) {
  if (is_watched()) return;
  if (auto kept = restore_facts(records))
    refresher_.learn(std::make_shared<const client::ServerFacts>(std::move(*kept)));
}

Task<Result<client::Gathered>> Upstream::read() {
  // Taken before the reading: by its end another process may watch the upstream and have stored something newer.
  auto fence = dependencies_.shared ? dependencies_.fence() : std::nullopt;
  const bool reads = !is_direct() || dependencies_.pins;
  auto lists = dependencies_.background.ending_here(std::make_shared<client::AllLists>(
      co_await client::read_all_lists(control(), reads ? catalog::KindSet::all() : catalog::KindSet())));
  if (!lists->any) co_return std::unexpected(std::move(*lists->failure));
  client::Gathered gathered{.change = {}, .failure = lists->failure};
  // Without a fence another process reads and stores the lists, and its lists may differ from these.
  if (!dependencies_.shared || fence) {
    const auto lock = co_await offering_.take();
    auto offer = co_await make_offer(std::move(lists));
    if (!offer) co_return std::unexpected(std::move(offer.error()));
    if (refresher_.is_closing()) co_return std::unexpected(errors::cancelled("the refresh"));
    gathered.failure = offer->failure;
    auto change = co_await take_over(std::move(*offer), std::move(fence));
    if (!change) co_return std::unexpected(std::move(change.error()));
    gathered.change = std::move(*change);
  }
  const bool known = looked_at_ == facts() && gathered.change.empty();
  if (!known && !looking_ && !refresher_.is_closing() && may_have_legacy_side())
    looks_.spawn("looking for a legacy side", look_at_legacy_side());
  co_return gathered;
}

Task<Result<Offer>> Upstream::make_offer(std::shared_ptr<const client::AllLists> read) {
  std::size_t bytes = 0;
  // The texts point into the pages.
  catalog::RawListing raw;
  raw.facts = provider_facts(*control().facts());
  for (const catalog::Kind kind : catalog::kKinds) {
    const auto& listing = read->lists[kind];
    if (!listing) continue;
    auto& texts = raw.definitions[kind].emplace();
    for (const auto& entry : listing->entries) {
      texts.push_back(entry.definition);
      bytes += entry.definition.size();
    }
    raw.facts.caching[kind] = listing->caching;
  }
  auto offer = co_await dependencies_.background.run(
      bytes * kWorkOfDefinitions,
      [maker = offer_maker(control().facts()), version = version_ + 1, read, raw = std::move(raw),
       previous = offer_]() mutable { return maker.make(version, std::move(raw), previous); });
  if (!offer) co_return offer;
  end_in_background(*offer);
  offer->faults.insert(offer->faults.end(), read->faults.begin(), read->faults.end());
  if (!offer->failure) offer->failure = read->failure;
  co_return offer;
}

// Otherwise the last user of a snapshot would have to wait until all of it is destroyed.
void Upstream::end_in_background(Offer& offer) const {
  const bool same = offer.listed == offer.served;
  if (offer.listed != offer_.listed) offer.listed = dependencies_.background.ending_here(std::move(offer.listed));
  if (same) {
    offer.served = offer.listed;
  } else if (offer.served != offer_.served) {
    offer.served = dependencies_.background.ending_here(std::move(offer.served));
  }
}

Task<Result<catalog::Publication>> Upstream::publish(catalog::SnapshotPointer snapshot) {
  const std::size_t bytes = offer_.size() + Offer{nullptr, nullptr, snapshot}.size();
  co_return co_await dependencies_.background.run(
      bytes, [publish = dependencies_.publish, snapshot = std::move(snapshot)] { return publish(snapshot); });
}

Task<Result<catalog::Change>> Upstream::take_over(Offer offer, std::optional<store::Fence> fence) {
  auto published = co_await publish(offer.served);
  if (!published) co_return std::unexpected(std::move(published.error()));
  const bool is_forgotten = is_forgotten_.exchange(false);
  const bool is_kept = !is_forgotten && offer_.served && offer_.listed && lists_the_same(*offer_.listed, *offer.listed);
  ++version_;
  has_read_ = true;
  catalog::Change change;
  for (const auto& one : published->changes)
    change = one;
  change.upstream = name_;
  client::log_unimplemented("upstream " + settings_.label(), offer_.faults, offer.faults);
  const bool reshaped = offer_.shaping != offer.shaping;
  offer_ = std::move(offer);
  read_by_ = std::move(fence);
  if (reshaped) report_shaping();
  published_ = std::move(*published);
  note_offer();
  const auto health = refresher_.health();
  const bool joins = health.state == client::ServerState::connecting;
  if (joins || health.consecutive_failures > 0) {
    log_->note(log::Level::info, "{}{}", joins ? "joined" : "is back",
               is_direct() ? ", its lists are asked for live" : ": " + counts_of(*offer_.served));
  }
  if (dependencies_.pins) report_pins();
  // Keeps what is listed, not only what is ratified of it: proposals survive a restart, and other processes see them.
  if (dependencies_.keep && !is_kept) dependencies_.keep();
  co_return change;
}

Task<Upstream::ToKeep> Upstream::lists_to_keep() {
  ToKeep kept{.records = {}, .fence = read_by_};
  if (!dependencies_.shared || read_by_) kept.records = co_await lists_now();
  co_return kept;
}

Task<std::vector<store::SnapshotRecord>> Upstream::lists_now() {
  const auto said = facts();
  if (is_direct() || !offer_.listed || !said) co_return std::vector<store::SnapshotRecord>();
  co_return co_await dependencies_.background.run(
      offer_.size(),
      [snapshot = offer_.listed, said, at = dependencies_.clock.wall()] { return keep_lists(*snapshot, *said, at); });
}

void Upstream::note_offer() {
  const std::scoped_lock lock(mutex_);
  status_.tools = offer_.served->list(catalog::Kind::tool).size();
  status_.prompts = offer_.served->list(catalog::Kind::prompt).size();
  status_.resources = offer_.served->list(catalog::Kind::resource).size();
  status_.resource_templates = offer_.served->list(catalog::Kind::resource_template).size();
  status_.list_faults = offer_.faults;
  status_.omissions.clear();
  for (const catalog::Kind kind : catalog::kKinds) {
    const auto& omitted = offer_.listed->list(kind).omissions();
    status_.omissions.insert(status_.omissions.end(), omitted.begin(), omitted.end());
  }
  const auto& unshaped = offer_.shaping.omissions;
  status_.omissions.insert(status_.omissions.end(), unshaped.begin(), unshaped.end());
  status_.shaping = offer_.shaping;
}

// Warns the operator of shapes that have no effect, and of tools that cannot be shown as shaped.
void Upstream::report_shaping() {
  constexpr std::size_t kMost = 20;
  const auto& warnings = offer_.shaping.warnings;
  for (std::size_t i = 0; i < std::min(kMost, warnings.size()); ++i)
    log_->note(log::Level::warning, "{}", warnings[i]);
  for (std::size_t i = 0; i < std::min(kMost, offer_.shaping.omissions.size()); ++i) {
    const auto& one = offer_.shaping.omissions[i];
    log_->note(log::Level::warning, "tool {} is not shown: {}", one.name, one.reason);
  }
}

void Upstream::report_pins() {
  const auto counts = dependencies_.pins->counts();
  if (counts == std::exchange(reported_, counts)) return;
  if (counts.proposals > 0) {
    log_->note(log::Level::warning,
               "is pinned: {} of its definitions are ratified, {} wait for it; `proteus tools diff` shows them",
               counts.ratified, counts.proposals);
  }
  if (counts.unkept > 0) {
    log_->note(log::Level::warning, "has {} more definitions that wait for ratification than there is room for",
               counts.unkept);
  }
  if (counts.blocked > 0) {
    log_->note(log::Level::warning, "is pinned: {} of its definitions changed so that calls are blocked",
               counts.blocked);
  }
}

}  // namespace proteus::providers
