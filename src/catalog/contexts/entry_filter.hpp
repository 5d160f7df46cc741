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

// Rules for the entries that a caller may use of the providers it may use. Patterns fit the name clients see.
struct EntryRules {
  std::vector<std::string> allow = {"*"};  // like `include` of a context
  std::vector<std::string> deny = {};
  bool read_only = false;  // only tools that declare `readOnlyHint`

  // Whether the rules allow every entry.
  bool allow_all() const;
};

// A lens that leaves only the entries that access rules allow. It applies before a context's lens, so that a context
// never mentions an entry that the caller cannot use. Caches what it derives from a snapshot. Thread-safe; only the
// cache changes.
class EntryFilter final : public Lens {
 public:
  explicit EntryFilter(const EntryRules& rules);

  SnapshotPointer through(const SnapshotPointer& snapshot) const override;
  DefinitionList::Pointer through(const DefinitionList::Pointer& list) const override;
  // Judges by the name clients see only. What a tool declares (`read_only`) is checked by `through`.
  bool admits(Kind kind, const Names& names) const override;

  // Whether the filter may leave out an entry of that kind.
  bool filters(Kind kind) const { return only_read_only(kind) || selection_.filters(kind); }
  // Whether the filter leaves out every entry of that kind.
  bool leaves_nothing(Kind kind) const override { return selection_.is_empty(kind); }
  // Whether the filter keeps entries of that kind only if they declare that they change nothing.
  bool only_read_only(Kind kind) const { return read_only_ && kind == Kind::tool; }

  // Returns a lens that applies `self` (not null) and then `behind` (may be null). The filter always comes first.
  static std::shared_ptr<const Lens> before(const std::shared_ptr<const EntryFilter>& self,
                                            const std::shared_ptr<const Lens>& behind);
  // Derives in advance what earlier users of the filter will request of a snapshot, so that requests find it cached.
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
