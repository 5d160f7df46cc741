#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "catalog/definitions/kind.hpp"
#include "catalog/definitions/name_index.hpp"
#include "catalog/definitions/names.hpp"
#include "catalog/definitions/snapshot.hpp"

namespace proteus::catalog {

// Assigns ranks to providers. A rank belongs to one provider as long as the layout lasts: a provider that goes leaves
// its rank empty, and a new one gets the last rank. A new layout begins if the order changes or too many ranks are
// empty. If several processes share a catalog, ranks have no gaps, and the layout up to each rank follows from the
// names alone.
struct Ranks {
  std::uint64_t layout = 0;
  std::vector<std::uint64_t> shared_layouts;  // by rank, each of all ranks up to it; empty if not shared
  std::vector<UpstreamName> names;            // by rank; empty if nobody has it
  std::unordered_map<UpstreamName, std::uint32_t> by_name;

  std::optional<std::uint32_t> of(const UpstreamName& upstream) const;
  // Returns the layout that a cursor in the list of this rank depends on.
  std::uint64_t layout_at(std::uint32_t rank) const;
  // Returns the layout that a cursor in front of all ranks depends on.
  std::uint64_t front_layout() const { return shared_layouts.empty() ? layout : 0; }
};

// The snapshots of all providers at one moment, and an index of their names. Immutable and thread-safe. References that
// it returns are valid as long as the state lives.
class CatalogState {
 public:
  using Pointer = std::shared_ptr<const CatalogState>;
  // Indices of definitions in a list, sorted.
  using Indices = std::vector<std::uint32_t>;

  CatalogState();

  // Increases with each change of the catalog.
  std::uint64_t version() const { return version_; }
  const Ranks& ranks() const { return *ranks_; }

  std::uint32_t places() const { return static_cast<std::uint32_t>(slots_.size()); }
  // Returns the snapshot of the provider with this rank; null if it has not published yet or nobody has the rank.
  const Snapshot* at(std::uint32_t rank) const { return slots_[rank]->snapshot.get(); }
  const SnapshotPointer& pointer_at(std::uint32_t rank) const { return slots_[rank]->snapshot; }
  // Returns null if the provider is unknown or has not published.
  SnapshotPointer find(const UpstreamName& upstream) const;

  // Returns all providers that may hold a name, by its hash: first by the names clients see, then by aliases, each by
  // rank.
  std::span<const NameIndex::Entry> holders(Kind kind, std::uint32_t hash) const { return index_[kind]->holders(hash); }
  // Returns the definitions of this rank whose names an earlier rank has, too.
  std::span<const std::uint32_t> shadowed(std::uint32_t rank, Kind kind) const;

  // Returns the number of all definitions, including shadowed ones.
  std::size_t count(Kind kind) const { return counts_[kind]; }

 private:
  friend class StateEditor;
  struct Slot {
    SnapshotPointer snapshot;
    PerKind<std::shared_ptr<const Indices>> shadowed;  // null for none
  };

  std::uint64_t version_ = 0;
  std::shared_ptr<const Ranks> ranks_;
  std::vector<std::shared_ptr<const Slot>> slots_;
  PerKind<NameIndex::Pointer> index_;
  PerKind<std::size_t> counts_;
};

// Makes the next state from an existing one. Changes only what depends on the names that change, and copies pointers to
// the rest.
class StateEditor {
 public:
  explicit StateEditor(const CatalogState& before);

  // Puts a snapshot, or null, at an existing rank.
  void put(std::uint32_t rank, SnapshotPointer snapshot);
  // Replaces the names of ranks. Existing ranks keep their snapshots.
  void rename(std::shared_ptr<const Ranks> ranks);
  // Rebuilds the state in another order: `from` has the old rank for each new one, or nothing. Costs as much as the
  // whole catalog.
  void reorder(std::shared_ptr<const Ranks> ranks, std::span<const std::optional<std::uint32_t>> from);

  CatalogState::Pointer take();

 private:
  const DefinitionList& list(std::uint32_t rank, Kind kind) const;
  void put(std::uint32_t rank, Kind kind, const DefinitionList& before, const DefinitionList& after);
  // Whether an earlier rank has the name of a key of `own`, which is the list of this rank.
  bool is_shadowed(std::uint32_t rank, const DefinitionList& own, const DefinitionList::Key& key) const;
  void update_shadowed(std::uint32_t rank, Kind kind);
  // Looks only at names with these hashes.
  void update_shadowed(std::uint32_t rank, Kind kind, std::span<const std::uint32_t> hashes);
  void set_shadowed(std::uint32_t rank, Kind kind, CatalogState::Indices found);

  std::shared_ptr<CatalogState> next_;
};

}  // namespace proteus::catalog
