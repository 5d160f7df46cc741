#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "catalog/definitions/snapshot.hpp"
#include "catalog/view/view.hpp"
#include "search/list_index.hpp"
#include "search/snapshot_index.hpp"
#include "search/tuning.hpp"

namespace proteus::search {

// One provider's tools as a caller sees them, ready to be searched. The view it was made of outlives it.
struct Visible {
  SnapshotIndex::Pointer index;
  std::span<const std::uint32_t> lost;  // positions of tools whose names another provider holds for this caller; in order
};

// The indexes of the snapshots that somebody searches. Each is made at the first search that needs it, kept while its
// snapshot lives, and let go of when nobody has searched for a while. Thread-safe.
//
// On a worker:  auto parts = view->parts(Kind::tool);
//               auto visible = indexes.find(parts);
//               if (!visible) visible = co_await background.run([…] { return indexes.build(parts); });
//               auto hits = rank(*visible, query, limit);      // hits[i].part is a position in `parts`
class Indexes {
 public:
  // What an upstream says of itself besides its snapshot, such as a display name or the types of its datasets.
  using More = std::function<std::string(const catalog::Snapshot&)>;

  explicit Indexes(const Clock& clock, Tuning tuning = {}, More more = {});

  // In the order of the parts. Nothing where an index is missing, which `build` makes: it takes time in proportion to
  // the snapshots that have none, and belongs on a background thread.
  std::optional<std::vector<Visible>> find(std::span<const catalog::View::Part> parts);
  std::vector<Visible> build(std::span<const catalog::View::Part> parts);

  // Lets go of what was last searched before that time, and of what belongs to snapshots that are gone.
  void drop_unused_since(Clock::Monotonic time);

  const Tuning& tuning() const { return tuning_; }
  // How many snapshots have an index.
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

  SnapshotIndex::Pointer kept(const catalog::Snapshot& snapshot, Clock::Monotonic now);
  ListIndex::Pointer index_of(const catalog::DefinitionList::Pointer& list);

  const Clock& clock_;
  const Tuning tuning_;
  const More more_;
  mutable std::mutex mutex_;
  std::map<const catalog::Snapshot*, Kept> kept_;
  // What snapshots share: one list through several lenses, or in the snapshots of two refreshes.
  std::map<const catalog::DefinitionList*, KeptList> lists_;
};

}  // namespace proteus::search
