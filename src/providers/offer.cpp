#include "providers/offer.hpp"

#include <array>
#include <utility>

#include "providers/kept_lists.hpp"

namespace proteus::providers {

std::size_t Offer::size() const {
  std::size_t bytes = 0;
  for (const auto& snapshot : {listed, served}) {
    if (!snapshot) continue;
    for (const catalog::Kind kind : catalog::kKinds)
      bytes += snapshot->list(kind).joined().size();
  }
  return bytes;
}

Result<Offer> OfferMaker::make(std::uint64_t version, catalog::RawListing raw, const Offer& previous) const {
  auto listed = catalog::build_snapshot(upstream, version, std::move(raw), rules, limits, previous.listed);
  if (!listed) return std::unexpected(std::move(listed.error()));
  if (!pins) return Offer{*listed, *listed};
  auto served = ratified(**listed, previous.served);
  if (!served) return std::unexpected(std::move(served.error()));
  return Offer{std::move(*listed), std::move(*served)};
}

Result<catalog::DefinitionList::Pointer> OfferMaker::list(catalog::Kind kind,
                                                          std::span<const std::string_view> texts) const {
  auto listed = catalog::DefinitionList::build(kind, texts, rules, limits);
  if (!listed || !pins) return listed;
  const auto served = pins->judge(**listed, Reading::part);
  const std::vector<std::string_view> ratified(served.begin(), served.end());
  return catalog::DefinitionList::build(kind, ratified, rules, limits);
}

Result<Offer> OfferMaker::restore(std::uint64_t version, const std::vector<store::SnapshotRecord>& records) const {
  auto kept = restore_lists(upstream, version, records, rules, limits);
  if (!kept) return std::unexpected(std::move(kept.error()));
  if (!pins) return Offer{*kept, *kept};
  auto served = ratified(**kept, nullptr);
  if (!served) return std::unexpected(std::move(served.error()));
  return Offer{nullptr, std::move(*served)};
}

// That which was ratified, in the form it was ratified in.
Result<catalog::SnapshotPointer> OfferMaker::ratified(const catalog::Snapshot& listed,
                                                      const catalog::SnapshotPointer& previous) const {
  catalog::RawListing raw;
  raw.facts = listed.facts();
  std::array<std::vector<std::string>, catalog::kKinds.size()> texts;
  for (const catalog::Kind kind : catalog::kKinds) {
    auto& served = texts.at(catalog::index_of(kind)) = pins->judge(listed.list(kind), Reading::whole);
    if (live) served.clear();
    raw.definitions[kind].emplace(served.begin(), served.end());
  }
  pins->judge_instructions(listed.facts().instructions);
  raw.facts.instructions = pins->instructions();
  return catalog::build_snapshot(upstream, listed.version(), std::move(raw), rules, limits, previous);
}

}  // namespace proteus::providers
