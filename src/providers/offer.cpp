#include "providers/offer.hpp"

#include <array>
#include <utility>

#include "providers/kept_lists.hpp"

namespace proteus::providers {

std::size_t Offer::size() const {
  std::size_t bytes = 0;
  for (const auto& snapshot : {listed, trusted, served}) {
    if (!snapshot) continue;
    for (const catalog::Kind kind : catalog::kKinds)
      bytes += snapshot->list(kind).joined().size();
  }
  return bytes;
}

Result<Offer> OfferMaker::make(std::uint64_t version, catalog::RawListing raw, const Offer& previous) const {
  Offer offer;
  catalog::Snapshot::Lists lists;
  catalog::KindSet read;
  for (const catalog::Kind kind : catalog::kKinds) {
    const auto before = previous.listed ? previous.listed->lists()[kind] : nullptr;
    lists[kind] = before;
    if (const auto& texts = raw.definitions[kind]) {
      auto built = catalog::DefinitionList::build(kind, *texts, rules, limits, before);
      if (built) {
        lists[kind] = std::move(*built);
        read.add(kind);
        continue;
      }
      Error error = std::move(built.error()).within(mcp::to_string(catalog::info(kind).list_method));
      offer.faults.push_back({kind, client::ListFault::Cause::failed, error.message()});
      if (!offer.failure) offer.failure = std::move(error);
    }
    // The previous list is still served, so its caching facts still apply.
    if (previous.listed) raw.facts.caching[kind] = previous.listed->facts().caching[kind];
  }
  offer.listed = std::make_shared<const catalog::Snapshot>(upstream, version, std::move(lists), std::move(raw.facts));
  offer.trusted = offer.listed;
  if (pins) {
    auto trusted = ratified(*offer.listed, read, previous.trusted);
    if (!trusted) return std::unexpected(std::move(trusted.error()));
    offer.trusted = std::move(*trusted);
  }
  if (auto shown = show(offer, previous); !shown) return std::unexpected(std::move(shown.error()));
  return offer;
}

Result<void> OfferMaker::show(Offer& offer, const Offer& previous) const {
  offer.served = offer.trusted;
  if (!shape || live) return {};
  const auto& tools = offer.trusted->lists()[catalog::Kind::tool];
  catalog::Snapshot::Lists lists = offer.trusted->lists();
  if (previous.trusted && previous.trusted->lists()[catalog::Kind::tool] == tools) {
    lists[catalog::Kind::tool] = previous.served->lists()[catalog::Kind::tool];
    offer.shaping = previous.shaping;
  } else {
    auto shaped = shape->apply(tools, limits);
    if (!shaped) return std::unexpected(std::move(shaped.error()));
    lists[catalog::Kind::tool] = std::move(shaped->list);
    offer.shaping = std::move(shaped->report);
  }
  if (lists[catalog::Kind::tool] == tools) return {};
  offer.served = std::make_shared<const catalog::Snapshot>(upstream, offer.trusted->version(), std::move(lists),
                                                           offer.trusted->facts());
  return {};
}

Result<catalog::DefinitionList::Pointer> OfferMaker::list(catalog::Kind kind,
                                                          std::span<const std::string_view> texts) const {
  auto listed = catalog::DefinitionList::build(kind, texts, rules, limits);
  if (listed && pins) {
    const auto served = pins->judge(**listed, Reading::part);
    const std::vector<std::string_view> ratified(served.begin(), served.end());
    listed = catalog::DefinitionList::build(kind, ratified, rules, limits);
  }
  if (!listed || !shape) return listed;
  auto shaped = shape->apply(*listed, limits);
  if (!shaped) return std::unexpected(std::move(shaped.error()));
  return std::move(shaped->list);
}

Result<Offer> OfferMaker::restore(std::uint64_t version, const std::vector<store::SnapshotRecord>& records) const {
  auto kept = restore_lists(upstream, version, records, rules, limits);
  if (!kept) return std::unexpected(std::move(kept.error()));
  Offer offer;
  offer.listed = offer.trusted = *kept;
  if (pins) {
    auto trusted = ratified(**kept, catalog::KindSet::all(), nullptr);
    if (!trusted) return std::unexpected(std::move(trusted.error()));
    offer.trusted = std::move(*trusted);
  }
  if (auto shown = show(offer, {}); !shown) return std::unexpected(std::move(shown.error()));
  return offer;
}

// Returns what was ratified, in the form in which it was ratified.
Result<catalog::SnapshotPointer> OfferMaker::ratified(const catalog::Snapshot& listed, catalog::KindSet read,
                                                      const catalog::SnapshotPointer& previous) const {
  catalog::RawListing raw;
  raw.facts = listed.facts();
  std::array<std::vector<std::string>, catalog::kKinds.size()> texts;
  for (const catalog::Kind kind : catalog::kKinds) {
    if (!read.has(kind)) continue;
    auto& served = texts.at(catalog::index_of(kind)) = pins->judge(listed.list(kind), Reading::whole);
    if (live) served.clear();
    raw.definitions[kind].emplace(served.begin(), served.end());
  }
  pins->judge_instructions(listed.facts().instructions);
  raw.facts.instructions = pins->instructions();
  return catalog::build_snapshot(upstream, listed.version(), std::move(raw), rules, limits, previous);
}

}  // namespace proteus::providers
