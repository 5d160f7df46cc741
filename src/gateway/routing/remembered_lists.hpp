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
  // How long a list counts that nobody has said has changed.
  std::chrono::milliseconds time{10'000};
  std::size_t bytes = std::size_t{64} << 20U;
};

// What upstreams that are listed live have lately listed, to which caller. Routes are decided by it; lists that clients
// ask for are not answered from it. Thread-safe; callers with different keys rarely share a lock, which is held for a
// moment. The clock outlives it.
//
// A key names all that an upstream's answer may depend on, so that nobody's requests are routed by what another one was
// shown. Contexts are not part of it: upstreams do not know them, and they apply when a route is decided.
class RememberedLists {
 public:
  RememberedLists(const Clock& clock, RememberedListsLimits limits);

  // When a list was asked for, and which of the upstream's lists it is.
  struct Reading {
    Clock::Monotonic began;
    std::uint64_t version;
  };
  // Before the upstream is asked.
  Reading begin(const ServedUpstream& upstream) const;

  // Null where nothing is remembered, or where it is too old, or where the upstream has other lists by now.
  ListedNames::Pointer find(std::string_view key, const ServedUpstream& upstream, catalog::Kind kind);
  // Of two readings the one that began later counts. Null: forgets what was read before.
  void put(std::string_view key, const ServedUpstream& upstream, catalog::Kind kind, Reading reading,
           ListedNames::Pointer names);
  // Frees what is too old to be used.
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
    std::list<Caller> callers;  // the one used last is first
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
