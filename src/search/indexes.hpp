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

// One provider's tools as a caller sees them, ready to be searched. The view it was made of outlives it.
struct Visible {
  SnapshotIndex::Pointer index;
  std::span<const std::uint32_t> lost = {};  // positions of tools whose names another provider holds; in order
};

// The indexes of the snapshots that somebody searches. Each is made at the first search that needs it, kept while its
// snapshot lives, and let go of when nobody has searched for a while. Thread-safe.
//
// On a worker:  const auto parts = view->parts(Kind::tool);
//               auto visible = indexes.find(parts);
//               if (!visible) visible = co_await background.run([…] { return indexes.build(parts); });
//               const auto hits = rank(*visible, query, limit);   // hits[i].part counts the parts
// A part that nobody else sees, such as a session's tools, is better built for the search alone (SnapshotIndex::build).
class Indexes {
 public:
  // What an upstream is described by besides what it says itself, such as a display name.
  using More = std::function<std::string(const catalog::Snapshot&)>;

  explicit Indexes(const Clock& clock, Tuning tuning = {}, More more = {});

  // In the order of the parts. Nothing where an index is missing, which `build` makes: it takes time in proportion to
  // the snapshots that have none, and belongs on a background thread.
  std::optional<std::vector<Visible>> find(std::span<const catalog::View::Part> parts);
  std::vector<Visible> build(std::span<const catalog::View::Part> parts);

  // Lets go of what was last searched before that time, and of what belongs to snapshots that are gone.
  void drop_unused_since(Clock::Monotonic time);

  const Tuning& tuning() const { return tuning_; }
  // How many snapshots have an index, and what they all take.
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
  // What snapshots share: one list through several lenses, or in the snapshots of two refreshes.
  std::unordered_map<const catalog::DefinitionList*, KeptList> lists_;
  std::size_t sweep_at_ = 64;
};

}  // namespace proteus::search
