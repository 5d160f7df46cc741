#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "base/tasks/task.hpp"
#include "catalog/definitions/snapshot.hpp"

namespace proteus::gateway {

// Definitions that legacy upstreams list for one caller alone, besides what they list for all: in the caller's own
// session, an upstream may have made something that nobody else has. Thread-safe.
class OwnLists {
 public:
  using Snapshots = std::vector<catalog::SnapshotPointer>;

  // Returns a snapshot for each upstream, in the order of upstream instances; null for none. No two snapshots that were
  // ever set have the same version.
  std::shared_ptr<const Snapshots> get() const {
    const std::scoped_lock lock(mutex_);
    return snapshots_;
  }

  // Replaces the snapshot of one upstream; null stands for none. Returns false, without effect, if `before` is not the
  // present one.
  bool replace(std::uint64_t instance, const catalog::SnapshotPointer& before, catalog::SnapshotPointer snapshot) {
    const std::scoped_lock lock(mutex_);
    const auto found = by_upstream_.find(instance);
    if ((found == by_upstream_.end() ? nullptr : found->second) != before) return false;
    if (snapshot) {
      by_upstream_.insert_or_assign(instance, std::move(snapshot));
    } else if (by_upstream_.erase(instance) == 0) {
      return true;
    }
    snapshots_.reset();
    if (by_upstream_.empty()) return true;
    auto all = std::make_shared<Snapshots>();
    all->reserve(kMost);
    for (const auto& [of, each] : by_upstream_) {
      if (all->size() < kMost) all->push_back(each);
    }
    snapshots_ = std::move(all);
    return true;
  }

  // Notes that an upstream has announced a change of this caller's lists. The change counts as unread until the result
  // is destroyed, on any thread.
  [[nodiscard]] static std::shared_ptr<void> fall_behind(std::shared_ptr<OwnLists> self);
  bool is_behind() const { return unread_count_.load(std::memory_order_acquire) > 0; }
  // How long a request waits for changes that an upstream has just announced to its caller.
  static constexpr std::chrono::seconds kUsualWait{2};
  // Returns when all changes announced before the call have been read, or after `most`.
  static Task<> caught_up(std::shared_ptr<OwnLists> self, std::chrono::milliseconds most);

 private:
  // A view has room for this many in front of the catalog, besides others.
  static constexpr std::size_t kMost = 8;

  struct Wake;

  void catch_up(std::uint64_t announcement);

  mutable std::mutex mutex_;
  std::map<std::uint64_t, catalog::SnapshotPointer> by_upstream_;
  std::shared_ptr<const Snapshots> snapshots_;
  std::uint64_t last_announcement_ = 0;
  std::set<std::uint64_t> unread_;  // announcements
  std::atomic<std::size_t> unread_count_ = 0;
  std::set<std::shared_ptr<Wake>> waiting_;
};

}  // namespace proteus::gateway
