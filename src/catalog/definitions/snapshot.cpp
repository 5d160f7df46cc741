#include "catalog/definitions/snapshot.hpp"

#include <utility>

namespace proteus::catalog {

bool operator==(const ProviderFacts& a, const ProviderFacts& b) {
  const auto same_caching = [&](Kind kind) {
    const auto& x = a.caching[kind];
    const auto& y = b.caching[kind];
    return x.has_value() == y.has_value() && (!x || (x->ttl == y->ttl && x->scope == y->scope));
  };
  for (const Kind kind : kKinds) {
    if (!same_caching(kind)) return false;
  }
  return a.instructions == b.instructions && a.capabilities == b.capabilities && a.server_info == b.server_info;
}

Snapshot::Snapshot(UpstreamName upstream, std::uint64_t version, Lists lists, ProviderFacts facts)
    : upstream_(std::move(upstream)), version_(version), lists_(std::move(lists)), facts_(std::move(facts)) {
  for (const Kind kind : kKinds) {
    if (!lists_[kind]) lists_[kind] = DefinitionList::empty(kind);
  }
}

Result<SnapshotPointer> build_snapshot(UpstreamName upstream, std::uint64_t version, RawListing listing,
                                       const NameRules& rules, const ListLimits& limits,
                                       const SnapshotPointer& previous) {
  Snapshot::Lists lists;
  for (const Kind kind : kKinds) {
    const DefinitionList::Pointer before = previous ? previous->lists()[kind] : nullptr;
    const auto& raw = listing.definitions[kind];
    if (!raw) {
      lists[kind] = before;
      continue;
    }
    auto built = DefinitionList::build(kind, *raw, rules, limits, before);
    if (!built) return std::unexpected(std::move(built.error()).within(upstream.value()));
    lists[kind] = std::move(*built);
  }
  return std::make_shared<const Snapshot>(std::move(upstream), version, std::move(lists), std::move(listing.facts));
}

}  // namespace proteus::catalog
