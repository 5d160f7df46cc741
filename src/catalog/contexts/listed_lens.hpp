#pragma once

#include <string>
#include <vector>

#include "catalog/contexts/entry_patterns.hpp"
#include "catalog/contexts/lens.hpp"
#include "catalog/contexts/seen_snapshots.hpp"

namespace proteus::catalog {

// The lens for the lists of callers who search: of the tools it leaves only those that are always listed. Everything
// else is as `first` shows it. Thread-safe; only the cache changes.
class ListedLens final : public Lens {
 public:
  // `first` must outlive the lens; null for none. The patterns fit the name clients see or the provider's own.
  explicit ListedLens(const Lens* first = nullptr, const std::vector<std::string>& always = {});

  SnapshotPointer through(const SnapshotPointer& snapshot) const override;
  DefinitionList::Pointer through(const DefinitionList::Pointer& list) const override;
  bool admits(Kind kind, const Names& names) const override;
  bool leaves_nothing(Kind kind) const override { return kind == Kind::tool && !always_.speak_of(kind); }

 private:
  DefinitionList::Pointer left_of(const DefinitionList::Pointer& list) const;

  const Lens* const first_;
  const EntryPatterns always_;
  mutable SeenSnapshots seen_;
};

}  // namespace proteus::catalog
