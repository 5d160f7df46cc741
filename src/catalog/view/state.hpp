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

// Which provider has which rank. A rank is a provider's for as long as the layout lasts, which only a change of the
// order ends: a provider that goes leaves its rank empty, one that comes gets the last. Where several processes share a
// catalog, ranks have no gaps, and the layout up to each rank follows from the names alone.
struct Ranks {
  std::uint64_t layout = 0;
  std::vector<std::uint64_t> shared_layouts;  // by rank, of all up to it; empty where nobody shares it
  std::vector<UpstreamName> names;            // by rank; empty where nobody has it
  std::unordered_map<UpstreamName, std::uint32_t> by_name;

  std::optional<std::uint32_t> of(const UpstreamName& upstream) const;
  // What a position in the list of this rank counts by.
  std::uint64_t layout_at(std::uint32_t rank) const;
  // The same for what is in front of all ranks.
  std::uint64_t front_layout() const { return shared_layouts.empty() ? layout : 0; }
};

// All providers' snapshots at one moment, and where each name is. Immutable, and safe to read from any thread; whatever
// it hands out lives as long as it.
class CatalogState {
 public:
  using Pointer = std::shared_ptr<const CatalogState>;
  // Definitions of a list, by index, in order.
  using Indices = std::vector<std::uint32_t>;

  CatalogState();

  // Grows with each change of the catalog.
  std::uint64_t version() const { return version_; }
  const Ranks& ranks() const { return *ranks_; }

  std::uint32_t places() const { return static_cast<std::uint32_t>(slots_.size()); }
  // Of the provider of this rank; null before its first one, and where nobody has the rank.
  const Snapshot* at(std::uint32_t rank) const { return slots_[rank]->snapshot.get(); }
  const SnapshotPointer& pointer_at(std::uint32_t rank) const { return slots_[rank]->snapshot; }
  // Null where the provider is unknown, or has not published.
  SnapshotPointer find(const UpstreamName& upstream) const;

  // Everyone who may hold a name, by its hash: first by the names clients see, then by aliases, each by rank.
  std::span<const NameIndex::Entry> holders(Kind kind, std::uint32_t hash) const { return index_[kind]->holders(hash); }
  // The definitions of this rank whose names an earlier rank has, too.
  std::span<const std::uint32_t> shadowed(std::uint32_t rank, Kind kind) const;

  // All definitions, also those shadowed.
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

// Makes the next state from one. Costs what changed: a snapshot's names, not the catalog.
class StateEditor {
 public:
  explicit StateEditor(const CatalogState& before);

  // Puts a snapshot, or none, at a rank that exists.
  void put(std::uint32_t rank, SnapshotPointer snapshot);
  // New names of ranks. Ranks that exist keep their snapshots.
  void rename(std::shared_ptr<const Ranks> ranks);
  // The state with another order, made anew: `from` gives for each new rank the old one, or nothing. Costs the catalog.
  void reorder(std::shared_ptr<const Ranks> ranks, std::span<const std::optional<std::uint32_t>> from);

  CatalogState::Pointer take();

 private:
  const DefinitionList& list(std::uint32_t rank, Kind kind) const;
  void put(std::uint32_t rank, Kind kind, const DefinitionList& before, const DefinitionList& after);
  std::shared_ptr<const CatalogState::Indices> find_shadowed(std::uint32_t rank, Kind kind) const;
  void update_shadowed(std::uint32_t rank, Kind kind);

  std::shared_ptr<CatalogState> next_;
};

}  // namespace proteus::catalog
