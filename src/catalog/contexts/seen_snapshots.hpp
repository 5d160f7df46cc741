#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "catalog/definitions/snapshot.hpp"

namespace proteus::catalog {

// What a lens makes of snapshots: made once, and kept for as long as the snapshot lives. Thread-safe.
class SeenSnapshots {
 public:
  using ListLens = std::function<DefinitionList::Pointer(const DefinitionList::Pointer&)>;

  // The snapshot with its lists looked at through `lens`, which gives the same for the same list; the snapshot itself
  // where no list becomes another.
  SnapshotPointer get(const SnapshotPointer& snapshot, const ListLens& lens);

 private:
  // Of those that are gone, besides as many as there are: lists can be large.
  static constexpr std::size_t kFew = 4;

  struct Kept {
    std::weak_ptr<const Snapshot> from;
    SnapshotPointer seen;
  };

  std::mutex mutex_;
  std::map<const Snapshot*, Kept> kept_;
  std::size_t sweep_at_ = kFew;
};

}  // namespace proteus::catalog
