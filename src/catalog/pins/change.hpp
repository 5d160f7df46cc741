#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "catalog/definitions/kind.hpp"
#include "catalog/definitions/names.hpp"
#include "catalog/definitions/snapshot.hpp"

namespace proteus::catalog {

enum class Compatibility : std::uint8_t { compatible, breaking };

// A definition that is still there, and other than before.
struct ChangedDefinition {
  std::string name;  // that clients see
  Compatibility compatibility = Compatibility::compatible;
  std::vector<std::string> reasons;  // in words; first those that make it breaking
};

struct KindChange {
  std::vector<std::string> added;
  std::vector<std::string> removed;
  std::vector<ChangedDefinition> changed;

  bool empty() const { return added.empty() && removed.empty() && changed.empty(); }
};

// What became of one provider's definitions; names in order.
struct Change {
  UpstreamName upstream;
  PerKind<KindChange> kinds;

  bool empty() const;
  bool breaking() const;  // whether a changed definition is; a removed one is not counted
  KindSet which() const;
};

// By the names clients see. What is only written otherwise, or listed in another order, has not changed. The snapshots
// are of one provider; a null one has nothing.
Change diff(const Snapshot* before, const Snapshot* after);

// How a definition changed, both of one kind and name.
//
// A tool breaks by its schemas, see schema_change.hpp; by losing its outputSchema; and by taking back what its
// annotations promised (readOnlyHint, idempotentHint, or that it is not destructive or not open to the world): hosts
// decide by those whether to ask the user, so that the change is not one to be taken silently. A prompt breaks by an
// argument that is gone or has become required, a resource by another mimeType.
ChangedDefinition compare(Kind kind, const Definition& before, const Definition& after);

// The members of a refresh result: "tools", "prompts", "resources" and "resource_templates", each an object with
// "added", "removed" and "changed".
std::string write_change(const Change& change);

}  // namespace proteus::catalog
