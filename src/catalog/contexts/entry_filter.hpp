#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "catalog/contexts/entry_patterns.hpp"
#include "catalog/contexts/lens.hpp"
#include "catalog/contexts/seen_snapshots.hpp"

namespace proteus::catalog {

// Which entries a caller may use of the providers it may use. Patterns fit the name clients see.
struct EntryRules {
  std::vector<std::string> allow = {"*"};  // as the `include` of a context
  std::vector<std::string> deny = {};
  bool read_only = false;  // of tools, only those that declare `readOnlyHint`

  // Whether they leave everything.
  bool allow_all() const;
};

// Leaves of what providers offer what rules of access allow. It stands in front of a context's lens, so that a context
// says nothing about what is not there. What it makes of a snapshot is made once. Immutable for who reads it;
// thread-safe.
class EntryFilter final : public Lens {
 public:
  explicit EntryFilter(const EntryRules& rules);

  SnapshotPointer through(const SnapshotPointer& snapshot) const override;
  DefinitionList::Pointer through(const DefinitionList::Pointer& list) const override;
  // By the name clients see; what a tool declares cannot be told by names.
  bool admits(Kind kind, const Names& names) const override;

  // Whether there may be something of that kind that it does not admit.
  bool filters(Kind kind) const { return only_read_only(kind) || selection_.filters(kind); }
  // Whether nothing of that kind can be there.
  bool leaves_nothing(Kind kind) const override { return selection_.is_empty(kind); }
  // Whether of that kind only what declares that it changes nothing is there.
  bool only_read_only(Kind kind) const { return read_only_ && kind == Kind::tool; }

  // This, and then `behind` (may be null): a filter is never looked through the other way round. `self` is not null.
  static std::shared_ptr<const Lens> before(const std::shared_ptr<const EntryFilter>& self,
                                            const std::shared_ptr<const Lens>& behind);
  // Works out what those who have asked before will ask for, so that it is there when they look.
  void look_at(const SnapshotPointer& snapshot) const;

 private:
  const EntrySelection selection_;
  const bool read_only_;
  mutable SeenSnapshots seen_;
  mutable std::atomic<bool> used_ = false;
  mutable std::mutex mutex_;
  mutable std::vector<std::weak_ptr<const Lens>> behind_;
};

}  // namespace proteus::catalog
