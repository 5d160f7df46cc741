#include "search/indexes.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace proteus::search {

Indexes::Indexes(const Clock& clock, Tuning tuning, More more)
    : clock_(clock), tuning_(tuning), more_(std::move(more)) {}

// The caller must hold the lock.
SnapshotIndex::Pointer Indexes::find_kept(const catalog::Snapshot& snapshot, Clock::Monotonic now) {
  const auto found = kept_.find(&snapshot);
  // An expired entry belongs to a former snapshot at the same address, because `snapshot` itself is alive.
  if (found == kept_.end() || found->second.of.expired()) return nullptr;
  found->second.used = now;
  return found->second.index;
}

std::optional<std::vector<Visible>> Indexes::find(std::span<const catalog::View::Part> parts) {
  std::vector<Visible> visible;
  visible.reserve(parts.size());
  const Clock::Monotonic now = clock_.recent();
  const std::scoped_lock lock(mutex_);
  for (const catalog::View::Part& part : parts) {
    auto index = find_kept(*part.snapshot, now);
    if (!index) return std::nullopt;
    visible.push_back({std::move(index), part.lost});
  }
  return visible;
}

std::vector<Visible> Indexes::build(std::span<const catalog::View::Part> parts) {
  std::vector<Visible> visible;
  visible.reserve(parts.size());
  for (const catalog::View::Part& part : parts)
    visible.push_back({make(*part.snapshot), part.lost});
  return visible;
}

SnapshotIndex::Pointer Indexes::make(const catalog::Snapshot& snapshot) {
  {
    const std::scoped_lock lock(mutex_);
    if (auto index = find_kept(snapshot, clock_.recent())) return index;
  }
  const std::string more = more_ ? more_(snapshot) : std::string();
  auto index = SnapshotIndex::build(
      snapshot, more, [this](const catalog::DefinitionList::Pointer& list) { return index_of(list); }, tuning_);
  const std::weak_ptr<const catalog::Snapshot> of = snapshot.weak_from_this();
  // Without shared ownership, this snapshot cannot be distinguished from a later one at the same address.
  if (of.expired()) return index;
  const std::scoped_lock lock(mutex_);
  if (kept_.size() >= sweep_at_) {
    sweep(Clock::Monotonic::min());
    sweep_at_ = std::max<std::size_t>(64, 2 * kept_.size());
  }
  const Kept& kept = kept_.insert_or_assign(&snapshot, Kept{of, std::move(index), clock_.recent()}).first->second;
  return kept.index;
}

ListIndex::Pointer Indexes::index_of(const catalog::DefinitionList::Pointer& list) {
  {
    const std::scoped_lock lock(mutex_);
    const auto found = lists_.find(list.get());
    if (found != lists_.end() && !found->second.of.expired()) {
      if (auto index = found->second.index.lock()) return index;
    }
  }
  auto index = ListIndex::build(*list, tuning_);
  const std::scoped_lock lock(mutex_);
  if (lists_.size() >= sweep_lists_at_) {
    sweep(Clock::Monotonic::min());
    sweep_lists_at_ = std::max<std::size_t>(64, 2 * lists_.size());
  }
  lists_.insert_or_assign(list.get(), KeptList{list, index});
  return index;
}

void Indexes::sweep(Clock::Monotonic unused_since) {
  std::erase_if(kept_,
                [&](const auto& entry) { return entry.second.used < unused_since || entry.second.of.expired(); });
  std::erase_if(lists_, [](const auto& entry) { return entry.second.of.expired() || entry.second.index.expired(); });
}

void Indexes::drop_unused_since(Clock::Monotonic time) {
  const std::scoped_lock lock(mutex_);
  sweep(time);
}

std::size_t Indexes::size() const {
  const std::scoped_lock lock(mutex_);
  return kept_.size();
}

std::size_t Indexes::memory_bytes() const {
  const std::scoped_lock lock(mutex_);
  std::set<const ListIndex*> counted;
  std::size_t bytes = 0;
  for (const auto& [snapshot, kept] : kept_) {
    bytes += kept.index->memory_bytes();
    for (const auto& piece : kept.index->pieces()) {
      if (counted.insert(piece.index.get()).second) bytes += piece.index->memory_bytes();
    }
  }
  return bytes;
}

}  // namespace proteus::search
