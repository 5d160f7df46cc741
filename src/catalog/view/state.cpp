#include "catalog/view/state.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace proteus::catalog {
namespace {

// The result is sorted and distinct, because keys are sorted by hash, names before aliases.
std::vector<NameIndex::Entry> entries_of(const DefinitionList& list, std::uint32_t rank) {
  std::vector<NameIndex::Entry> entries;
  entries.reserve(list.keys().size());
  for (const auto& key : list.keys()) {
    const auto entry = NameIndex::pack({key.hash, key.alias != 0, rank});
    if (entries.empty() || entries.back() != entry) entries.push_back(entry);
  }
  return entries;
}

// Returns the hashes of all names that clients see in one of two lists only. If several names of a list have the same
// hash, it may be among them though none has changed.
std::vector<std::uint32_t> changed_names(const DefinitionList& before, const DefinitionList& after) {
  std::vector<std::uint32_t> hashes;
  auto old = before.keys();
  auto now = after.keys();
  // Takes the keys with a hash off the front, and returns those of names, which come before those of aliases.
  const auto take = [](std::span<const DefinitionList::Key>& keys, std::uint32_t hash) {
    const auto end = std::ranges::find_if(keys, [hash](const auto& key) { return key.hash != hash; });
    const auto taken = keys.first(static_cast<std::size_t>(end - keys.begin()));
    keys = keys.subspan(taken.size());
    const auto names = std::ranges::find_if(taken, [](const auto& key) { return key.alias != 0; });
    return taken.first(static_cast<std::size_t>(names - taken.begin()));
  };
  while (!old.empty() || !now.empty()) {
    const std::uint32_t hash =
        old.empty() || (!now.empty() && now.front().hash < old.front().hash) ? now.front().hash : old.front().hash;
    const auto was = take(old, hash);
    const auto is = take(now, hash);
    const bool same = (was.empty() && is.empty()) || (was.size() == 1 && is.size() == 1 &&
                                                      before[was.front().index].shown == after[is.front().index].shown);
    if (!same) hashes.push_back(hash);
  }
  return hashes;
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
  // Later providers may have a name that this one has come to shadow or no longer shadows.
  std::map<std::uint32_t, std::vector<std::uint32_t>> behind;  // hashes by rank
  for (const std::uint32_t hash : changed_names(before, after)) {
    for (const auto other : next_->holders(kind, hash)) {
      const Holder holder = NameIndex::unpack(other);
      if (!holder.alias && holder.rank > rank) behind[holder.rank].push_back(hash);
    }
  }
  for (const auto& [later, hashes] : behind)
    update_shadowed(later, kind, hashes);
}

bool StateEditor::is_shadowed(std::uint32_t rank, const DefinitionList& own, const DefinitionList::Key& key) const {
  for (const auto entry : next_->holders(own.kind(), key.hash)) {
    const Holder holder = NameIndex::unpack(entry);
    if (holder.alias || holder.rank >= rank) return false;
    if (list(holder.rank, own.kind()).find(own[key.index].shown, key.hash) != nullptr) return true;
  }
  return false;
}

void StateEditor::update_shadowed(std::uint32_t rank, Kind kind) {
  const DefinitionList& own = list(rank, kind);
  CatalogState::Indices found;
  for (const auto& key : own.keys()) {
    if (key.alias == 0 && is_shadowed(rank, own, key)) found.push_back(key.index);
  }
  std::ranges::sort(found);
  set_shadowed(rank, kind, std::move(found));
}

void StateEditor::update_shadowed(std::uint32_t rank, Kind kind, std::span<const std::uint32_t> hashes) {
  const DefinitionList& own = list(rank, kind);
  CatalogState::Indices looked;
  CatalogState::Indices found;
  for (const std::uint32_t hash : hashes) {
    for (const auto& key : std::ranges::equal_range(own.keys(), hash, {}, &DefinitionList::Key::hash)) {
      if (key.alias != 0) continue;
      looked.push_back(key.index);
      if (is_shadowed(rank, own, key)) found.push_back(key.index);
    }
  }
  std::ranges::sort(looked);
  std::ranges::sort(found);
  CatalogState::Indices others;
  std::ranges::set_difference(next_->shadowed(rank, kind), looked, std::back_inserter(others));
  CatalogState::Indices all;
  std::ranges::set_union(others, found, std::back_inserter(all));
  set_shadowed(rank, kind, std::move(all));
}

void StateEditor::set_shadowed(std::uint32_t rank, Kind kind, CatalogState::Indices found) {
  if (std::ranges::equal(found, next_->shadowed(rank, kind))) return;
  auto changed = std::make_shared<CatalogState::Slot>(*next_->slots_[rank]);
  changed->shadowed[kind] = found.empty() ? nullptr : std::make_shared<const CatalogState::Indices>(std::move(found));
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
