#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <proteus/error.hpp>

#include "catalog/pins/change.hpp"
#include "catalog/view/state.hpp"

namespace proteus::catalog {

// What a change of the catalog did.
struct Publication {
  CatalogState::Pointer before;
  CatalogState::Pointer after;  // the same where nothing changed
  std::vector<Change> changes;  // of each provider that changed
  // The lists that are others for who may see everything. For anyone else ask `concerned` with views of both states.
  KindSet visible;
};

// The catalog as it is now. Thread-safe: writers wait for one another, readers for nobody. Publishing one provider
// costs what that provider's names cost, however large the catalog is.
class Catalog {
 public:
  // Whether cursors are understood by this catalog alone, or by every one that has the same providers in the same
  // order. The latter costs as much as the whole catalog whenever a provider leaves.
  enum class Layout : std::uint8_t { own, shared };

  explicit Catalog(Layout layout = Layout::own);
  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;

  // All providers there are to be, the one that wins a name first. Those not named are removed, new ones have nothing
  // yet. Only another order of those that stay costs as much as the whole catalog. Fails where a name is empty or there
  // twice.
  Result<Publication> set_order(const std::vector<UpstreamName>& order);

  // Fails where the provider is not in the order, so that one removed does not return by a late refresh; and where its
  // version is not above that of the one before. A snapshot that differs in nothing that can be seen leaves everything
  // as it is.
  Result<Publication> publish(SnapshotPointer snapshot);

  Result<Publication> remove(const UpstreamName& upstream);

  // Takes a lock that is held for a moment. On a request path use a reader.
  CatalogState::Pointer current() const;
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  Publication swap(CatalogState::Pointer next, std::vector<Change> changes);

  const Layout layout_;
  std::mutex writing_;
  std::unordered_map<UpstreamName, std::uint64_t> versions_;  // published last; guarded by writing_

  mutable std::mutex swapping_;
  CatalogState::Pointer state_;  // guarded by swapping_
  std::atomic<std::uint64_t> version_ = 0;
};

// One thread's look at a catalog, which outlives it. Not thread-safe: each thread has its own. What it costs is an
// atomic load, and once after each change a short lock. A reader that is not used keeps the state it saw last.
class CatalogReader {
 public:
  explicit CatalogReader(const Catalog& catalog) : catalog_(catalog), state_(catalog.current()) {}

  const CatalogState::Pointer& current() {
    if (state_->version() != catalog_.version()) [[unlikely]]
      state_ = catalog_.current();
    return state_;
  }

 private:
  const Catalog& catalog_;
  CatalogState::Pointer state_;
};

}  // namespace proteus::catalog
