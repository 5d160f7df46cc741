#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "catalog/definitions/kind.hpp"
#include "gateway/routing/listed_names.hpp"
#include "gateway/upstreams/upstreams.hpp"

namespace proteus::gateway {

struct RememberedListsLimits {
  // How long a list counts if no change is announced.
  std::chrono::milliseconds time{10'000};
  std::size_t bytes = std::size_t{64} << 20U;
};

// What live upstreams have recently listed to which caller. Used to decide routes, not to answer list requests of
// clients. Thread-safe; callers with different keys rarely share a lock, which is held briefly. The clock must outlive
// it.
//
// A key contains everything that an upstream's answer may depend on, so that no request is routed by what another
// caller was shown. Contexts are not part of the key: upstreams do not know them, and they are applied when a route is
// decided.
class RememberedLists {
 public:
  RememberedLists(const Clock& clock, RememberedListsLimits limits);

  // When a list was requested, and which version of the upstream's lists it is.
  struct Reading {
    Clock::Monotonic began;
    std::uint64_t version;
  };
  // To be called before the upstream is asked.
  Reading begin(const ServedUpstream& upstream) const;

  // Returns null if nothing is remembered, if it is too old, or if the upstream's lists have changed since.
  ListedNames::Pointer find(std::string_view key, const ServedUpstream& upstream, catalog::Kind kind);
  // Remembers a list; of two readings the one that began later counts. Null names forget the list.
  void put(std::string_view key, const ServedUpstream& upstream, catalog::Kind kind, Reading reading,
           ListedNames::Pointer names);
  // Frees lists that are too old to be used.
  void drop_expired();
  std::size_t bytes() const;

 private:
  struct List {
    std::uint64_t instance;
    catalog::Kind kind;
    Reading reading;
    ListedNames::Pointer names;  // null: forgotten
  };
  struct Caller {
    std::string key;
    std::vector<List> lists;
    std::size_t bytes = 0;
  };
  struct Shard {
    mutable std::mutex mutex;
    std::list<Caller> callers;  // most recently used first
    std::unordered_map<std::string_view, std::list<Caller>::iterator> by_key;
    std::size_t bytes = 0;

    void erase(std::list<Caller>::iterator caller);
  };

  Shard& shard_of(std::string_view key);
  bool is_fresh(const List& list, Clock::Monotonic now) const { return now - list.reading.began < limits_.time; }

  const Clock& clock_;
  const RememberedListsLimits limits_;
  std::array<Shard, 16> shards_;
};

}  // namespace proteus::gateway
