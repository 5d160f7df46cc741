#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catalog/definitions/kind.hpp"
#include "catalog/definitions/names.hpp"
#include "catalog/definitions/snapshot.hpp"

namespace proteus::catalog {

enum class Compatibility : std::uint8_t { compatible, breaking };

// A definition that is still listed but differs.
struct ChangedDefinition {
  std::string name;  // the name clients see
  Compatibility compatibility = Compatibility::compatible;
  std::vector<std::string> reasons;  // in words; first those that make it breaking
};

struct KindChange {
  std::vector<std::string> added;
  std::vector<std::string> removed;
  std::vector<ChangedDefinition> changed;

  bool empty() const { return added.empty() && removed.empty() && changed.empty(); }
};

// Copies share what changed: an upstream decides how many names there are, and several threads get a copy.
class KindChanges {
 public:
  KindChanges() = default;
  explicit KindChanges(PerKind<KindChange> kinds)
      : kinds_(std::make_shared<const PerKind<KindChange>>(std::move(kinds))) {}

  const KindChange& operator[](Kind kind) const;

 private:
  std::shared_ptr<const PerKind<KindChange>> kinds_;  // null if nothing changed
};

// What changed in one provider's definitions. Names are sorted.
struct Change {
  UpstreamName upstream;
  KindChanges kinds = {};

  bool empty() const;
  KindSet which() const;
};

// Compares the snapshots of one provider by the names clients see. A definition that is only written differently, or
// listed in another order, has not changed. A null snapshot has no definitions.
Change diff(const Snapshot* before, const Snapshot* after);

// Returns how a definition changed; both must be of one kind and name.
//
// A change of a tool is breaking because of its schemas (see schema_change.hpp); if it loses its outputSchema; if
// `execution` changed, appeared or is gone (a `taskSupport` of "forbidden" is the same as none); or if its annotations
// withdraw a promise (readOnlyHint, idempotentHint, or that it is not destructive or not open to the world), because
// hosts use these to decide whether to ask the user. A change of a prompt is breaking if an argument is gone or has
// become required, and that of a resource if its mimeType changed or is gone.
ChangedDefinition compare(Kind kind, const Definition& before, const Definition& after);

// Returns members of a refresh result: "tools", "prompts", "resources" and "resource_templates", each an object with
// "added", "removed" and "changed".
std::string write_change(const Change& change);

}  // namespace proteus::catalog
