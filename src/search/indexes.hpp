#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "catalog/definitions/snapshot.hpp"
#include "catalog/view/view.hpp"
#include "search/list_index.hpp"
#include "search/snapshot_index.hpp"
#include "search/tuning.hpp"

namespace proteus::search {

// One provider's tools as a caller sees them, ready to be searched. The view that this was made from must outlive it.
struct Visible {
  SnapshotIndex::Pointer index;
  std::span<const std::uint32_t> lost = {};  // sorted positions of tools whose names another provider holds
};

// The indexes of the snapshots that are searched. An index is made at the first search that needs it, kept while its
// snapshot lives, and dropped after some time without searches. Thread-safe.
//
// On a worker:  const auto parts = view->parts(Kind::tool);
//               auto visible = indexes.find(parts);
//               if (!visible) visible = co_await background.run([…] { return indexes.build(parts); });
//               const auto hits = rank(*visible, query, limit);   // hits[i].part is an index into `parts`
// A part that no other caller sees, such as a session's tools, should be indexed for the search alone
// (SnapshotIndex::build).
class Indexes {
 public:
  // Returns text about an upstream in addition to what it says about itself, such as a display name.
  using More = std::function<std::string(const catalog::Snapshot&)>;

  explicit Indexes(const Clock& clock, Tuning tuning = {}, More more = {});

  // Both return the parts in the given order. `find` returns nothing if an index is missing. `build` makes missing
  // indexes; it takes time in proportion to their snapshots, and belongs on a background thread.
  std::optional<std::vector<Visible>> find(std::span<const catalog::View::Part> parts);
  std::vector<Visible> build(std::span<const catalog::View::Part> parts);

  // Drops the indexes that were last searched before `time`, and those of snapshots that are gone.
  void drop_unused_since(Clock::Monotonic time);

  const Tuning& tuning() const { return tuning_; }
  // The number of snapshots that have an index, and the memory of all indexes.
  std::size_t size() const;
  std::size_t memory_bytes() const;

 private:
  struct Kept {
    std::weak_ptr<const catalog::Snapshot> of;
    SnapshotIndex::Pointer index;
    Clock::Monotonic used;
  };
  struct KeptList {
    std::weak_ptr<const catalog::DefinitionList> of;
    std::weak_ptr<const ListIndex> index;
  };

  SnapshotIndex::Pointer find_kept(const catalog::Snapshot& snapshot, Clock::Monotonic now);
  SnapshotIndex::Pointer make(const catalog::Snapshot& snapshot);
  ListIndex::Pointer index_of(const catalog::DefinitionList::Pointer& list);
  void sweep(Clock::Monotonic unused_since);

  const Clock& clock_;
  const Tuning tuning_;
  const More more_;
  mutable std::mutex mutex_;
  std::unordered_map<const catalog::Snapshot*, Kept> kept_;
  // Lists that snapshots share: because of several lenses, or because a refresh left the list unchanged.
  std::unordered_map<const catalog::DefinitionList*, KeptList> lists_;
  std::size_t sweep_at_ = 64;
  std::size_t sweep_lists_at_ = 64;
};

}  // namespace proteus::search
