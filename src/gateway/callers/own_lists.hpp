#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/task.hpp"
#include "catalog/definitions/snapshot.hpp"

namespace proteus::gateway {

// What legacy upstreams list for one caller alone, besides what they list for all: in a session of its own an upstream
// may have made something that nobody else has. Thread-safe.
class OwnLists {
 public:
  using Snapshots = std::vector<catalog::SnapshotPointer>;

  // By upstream, in the order of their instances; null for nothing. No two that were ever set have the same version.
  std::shared_ptr<const Snapshots> get() const {
    const std::scoped_lock lock(mutex_);
    return snapshots_;
  }

  // Of one upstream, instead of what was set before; null for nothing. False, and without effect, where another one
  // set something since.
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

  // An upstream has said that a list of this caller is another now, and it was not read yet; counted.
  void fall_behind() { behind_.fetch_add(1, std::memory_order_acq_rel); }
  void catch_up();
  bool is_behind() const { return behind_.load(std::memory_order_acquire) > 0; }
  // How long a list waits for what an upstream has just announced to its caller.
  static constexpr std::chrono::seconds kUsualWait{2};
  // Ends when what was announced has been read, or when that takes too long to be waited for.
  static Task<> caught_up(std::shared_ptr<OwnLists> self, std::chrono::milliseconds most);

 private:
  // A view has room for so many in front of the catalog, besides others.
  static constexpr std::size_t kMost = 8;

  mutable std::mutex mutex_;
  std::map<std::uint64_t, catalog::SnapshotPointer> by_upstream_;
  std::shared_ptr<const Snapshots> snapshots_;
  std::atomic<unsigned> behind_ = 0;
  std::vector<std::function<void()>> waiting_;
};

}  // namespace proteus::gateway
