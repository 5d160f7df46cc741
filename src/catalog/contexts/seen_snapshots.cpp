#include "catalog/contexts/seen_snapshots.hpp"

namespace proteus::catalog {
namespace {

SnapshotPointer see(const SnapshotPointer& snapshot, const SeenSnapshots::ListLens& lens) {
  Snapshot::Lists lists;
  bool same = true;
  for (const Kind kind : kKinds) {
    lists[kind] = lens(snapshot->lists()[kind]);
    same = same && lists[kind] == snapshot->lists()[kind];
  }
  if (same) return snapshot;
  return std::make_shared<const Snapshot>(snapshot->upstream(), snapshot->version(), std::move(lists),
                                          snapshot->facts());
}

}  // namespace

SnapshotPointer SeenSnapshots::get(const SnapshotPointer& snapshot, const ListLens& lens) {
  {
    const std::scoped_lock lock(mutex_);
    const auto found = kept_.find(snapshot.get());
    // A new snapshot may have the address of one that is gone.
    if (found != kept_.end() && found->second.from.lock() == snapshot)
      return found->second.seen ? found->second.seen : snapshot;
  }
  SnapshotPointer seen = see(snapshot, lens);
  const std::scoped_lock lock(mutex_);
  if (kept_.size() >= sweep_at_) {
    std::erase_if(kept_, [](const auto& entry) { return entry.second.from.expired(); });
    sweep_at_ = kFew + 2 * kept_.size();
  }
  kept_.insert_or_assign(snapshot.get(), Kept{snapshot, seen == snapshot ? nullptr : seen});
  return seen;
}

}  // namespace proteus::catalog
