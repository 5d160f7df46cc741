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

// The result of a change of the catalog.
struct Publication {
  CatalogState::Pointer before;
  CatalogState::Pointer after;  // the same as `before` if nothing changed
  std::vector<Change> changes;  // one for each provider that changed
  // The lists that changed for callers who may see everything. For other callers, use `concerned` with views of both
  // states.
  KindSet visible;
};

// The catalog as it is now. Thread-safe: writers wait for one another, readers for nobody. The cost of publishing
// depends on the provider's own names. Of everything else only pointers are copied, one per provider and per bucket of
// names, and the indices of shadowed names of providers that share a changed one.
class Catalog {
 public:
  // Whether cursors are valid in this catalog only, or in every catalog that has the same providers in the same order.
  // With `shared`, each removal of a provider costs as much as the whole catalog.
  enum class Layout : std::uint8_t { own, shared };

  explicit Catalog(Layout layout = Layout::own);
  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;

  // Sets all providers; the first one wins a name. Providers that are not in `order` are removed; new ones have nothing
  // yet. Costs as much as the whole catalog if the remaining providers change their order or too many ranks are empty.
  // Fails if a name is empty or occurs twice.
  Result<Publication> set_order(const std::vector<UpstreamName>& order);

  // Fails if the provider is not in the order, so that a late refresh does not bring a removed one back, or if the
  // version is not above the last one. A snapshot without visible differences changes nothing.
  Result<Publication> publish(SnapshotPointer snapshot);

  // Takes a lock for a moment. On a request path, use a CatalogReader.
  CatalogState::Pointer current() const;
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  Publication swap(CatalogState::Pointer next, std::vector<Change> changes);

  const Layout layout_;
  std::mutex writing_;
  std::unordered_map<UpstreamName, std::uint64_t> versions_;  // last published versions; guarded by writing_

  mutable std::mutex swapping_;
  CatalogState::Pointer state_;  // guarded by swapping_
  std::atomic<std::uint64_t> version_ = 0;
};

// One thread's access to a catalog, which must outlive it. Not thread-safe: each thread has its own. Costs an atomic
// load, and a short lock once after each change. A reader that is not used keeps the state it saw last.
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
