#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "catalog/definitions/snapshot.hpp"

namespace proteus::catalog {

// Caches what one lens makes of each snapshot for as long as the snapshot lives. Thread-safe; threads that ask at the
// same time may each do the work.
class SeenSnapshots {
 public:
  using ListLens = std::function<DefinitionList::Pointer(const DefinitionList::Pointer&)>;

  // Returns the snapshot with its lists seen through `lens`, or the snapshot itself if no list differs. `lens` must
  // yield the same for the same list.
  SnapshotPointer get(const SnapshotPointer& snapshot, const ListLens& lens);

 private:
  // The next sweep for gone snapshots is due at twice the entries that the last one left, plus this many. Small,
  // because lists can be large.
  static constexpr std::size_t kFew = 4;

  struct Kept {
    std::weak_ptr<const Snapshot> from;
    SnapshotPointer seen;  // null if the lens changes nothing: a pointer to `from` would keep it alive for ever
  };

  std::mutex mutex_;
  std::map<const Snapshot*, Kept> kept_;
  std::size_t sweep_at_ = kFew;
};

}  // namespace proteus::catalog
