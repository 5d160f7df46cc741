#include "catalog/view/state.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace proteus::catalog {
namespace {

// In order and distinct, because keys are in the order of hashes, names before aliases.
std::vector<NameIndex::Entry> entries_of(const DefinitionList& list, std::uint32_t rank) {
  std::vector<NameIndex::Entry> entries;
  entries.reserve(list.keys().size());
  for (const auto& key : list.keys()) {
    const auto entry = NameIndex::pack({key.hash, key.alias != 0, rank});
    if (entries.empty() || entries.back() != entry) entries.push_back(entry);
  }
  return entries;
}

}  // namespace

std::optional<std::uint32_t> Ranks::of(const UpstreamName& upstream) const {
  const auto found = by_name.find(upstream);
  if (found == by_name.end()) return std::nullopt;
  return found->second;
}

std::uint64_t Ranks::layout_at(std::uint32_t rank) const {
  if (shared_layouts.empty()) return layout;
  return shared_layouts[std::min<std::size_t>(rank, shared_layouts.size() - 1)];
}

CatalogState::CatalogState() : ranks_(std::make_shared<const Ranks>()) {
  for (const Kind kind : kKinds)
    index_[kind] = NameIndex::build({});
}

SnapshotPointer CatalogState::find(const UpstreamName& upstream) const {
  const auto rank = ranks_->of(upstream);
  return rank ? slots_[*rank]->snapshot : nullptr;
}

std::span<const std::uint32_t> CatalogState::shadowed(std::uint32_t rank, Kind kind) const {
  const auto& indices = slots_[rank]->shadowed[kind];
  return indices ? std::span<const std::uint32_t>(*indices) : std::span<const std::uint32_t>{};
}

StateEditor::StateEditor(const CatalogState& before) : next_(std::make_shared<CatalogState>(before)) {
  ++next_->version_;
}

CatalogState::Pointer StateEditor::take() { return std::move(next_); }

const DefinitionList& StateEditor::list(std::uint32_t rank, Kind kind) const {
  const Snapshot* const snapshot = next_->at(rank);
  return snapshot != nullptr ? snapshot->list(kind) : *DefinitionList::empty(kind);
}

void StateEditor::put(std::uint32_t rank, SnapshotPointer snapshot) {
  const auto before = next_->slots_[rank];
  auto slot = std::make_shared<CatalogState::Slot>(*before);
  slot->snapshot = std::move(snapshot);
  next_->slots_[rank] = slot;
  for (const Kind kind : kKinds) {
    const auto none = DefinitionList::empty(kind);
    put(rank, kind, before->snapshot ? before->snapshot->list(kind) : *none, list(rank, kind));
  }
}

void StateEditor::put(std::uint32_t rank, Kind kind, const DefinitionList& before, const DefinitionList& after) {
  if (&before == &after) return;
  next_->counts_[kind] += after.size() - before.size();
  const auto old = entries_of(before, rank);
  const auto now = entries_of(after, rank);
  std::vector<NameIndex::Entry> added;
  std::vector<NameIndex::Entry> removed;
  std::ranges::set_difference(now, old, std::back_inserter(added));
  std::ranges::set_difference(old, now, std::back_inserter(removed));
  if (!added.empty() || !removed.empty()) next_->index_[kind] = next_->index_[kind]->changed(added, removed);

  update_shadowed(rank, kind);
  // Those behind, whose names have come to be shadowed by this one, or no longer are.
  std::set<std::uint32_t> concerned;
  for (const auto* entries : {&added, &removed}) {
    for (const auto entry : *entries) {
      const Holder changed = NameIndex::unpack(entry);
      if (changed.alias) continue;
      for (const auto other : next_->holders(kind, changed.hash)) {
        const Holder holder = NameIndex::unpack(other);
        if (!holder.alias && holder.rank > rank) concerned.insert(holder.rank);
      }
    }
  }
  for (const std::uint32_t behind : concerned)
    update_shadowed(behind, kind);
}

std::shared_ptr<const CatalogState::Indices> StateEditor::find_shadowed(std::uint32_t rank, Kind kind) const {
  const DefinitionList& own = list(rank, kind);
  CatalogState::Indices found;
  for (const auto& key : own.keys()) {
    if (key.alias != 0) continue;
    for (const auto entry : next_->holders(kind, key.hash)) {
      const Holder holder = NameIndex::unpack(entry);
      if (holder.alias || holder.rank >= rank) break;
      if (list(holder.rank, kind).find(own[key.index].shown, key.hash) == nullptr) continue;
      found.push_back(key.index);
      break;
    }
  }
  if (found.empty()) return nullptr;
  std::ranges::sort(found);
  return std::make_shared<const CatalogState::Indices>(std::move(found));
}

void StateEditor::update_shadowed(std::uint32_t rank, Kind kind) {
  auto found = find_shadowed(rank, kind);
  const auto& slot = next_->slots_[rank];
  if (found == nullptr && slot->shadowed[kind] == nullptr) return;
  auto changed = std::make_shared<CatalogState::Slot>(*slot);
  changed->shadowed[kind] = std::move(found);
  next_->slots_[rank] = std::move(changed);
}

void StateEditor::rename(std::shared_ptr<const Ranks> ranks) {
  next_->ranks_ = std::move(ranks);
  while (next_->slots_.size() < next_->ranks_->names.size())
    next_->slots_.push_back(std::make_shared<const CatalogState::Slot>());
}

void StateEditor::reorder(std::shared_ptr<const Ranks> ranks, std::span<const std::optional<std::uint32_t>> from) {
  const auto before = std::exchange(next_->slots_, {});
  next_->ranks_ = std::move(ranks);
  for (const auto& old : from) {
    auto slot = std::make_shared<CatalogState::Slot>();
    if (old) slot->snapshot = before[*old]->snapshot;
    next_->slots_.push_back(std::move(slot));
  }
  for (const Kind kind : kKinds) {
    std::vector<NameIndex::Entry> entries;
    next_->counts_[kind] = 0;
    for (std::uint32_t rank = 0; rank < next_->places(); ++rank) {
      std::ranges::copy(entries_of(list(rank, kind), rank), std::back_inserter(entries));
      next_->counts_[kind] += list(rank, kind).size();
    }
    std::ranges::sort(entries);
    next_->index_[kind] = NameIndex::build(entries);
    for (std::uint32_t rank = 0; rank < next_->places(); ++rank)
      update_shadowed(rank, kind);
  }
}

}  // namespace proteus::catalog
