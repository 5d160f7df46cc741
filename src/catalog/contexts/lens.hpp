#pragma once

#include <string_view>

#include "catalog/definitions/definition_list.hpp"
#include "catalog/definitions/kind.hpp"
#include "catalog/definitions/snapshot.hpp"

namespace proteus::catalog {

// All names of one entry.
struct Names {
  std::string_view shown;        // the name clients see; a URI for a resource or a template
  std::string_view own;          // the provider's own name
  std::string_view prefix = {};  // of the provider's names

  // Whether `name` is one of them or the alias of a portable name.
  bool include(std::string_view name) const {
    return name == shown || name == own || (name.starts_with(prefix) && name.substr(prefix.size()) == own);
  }
};

// Shows some of what providers offer, under the same names but possibly with other texts. Immutable and thread-safe.
class Lens {
 public:
  virtual ~Lens() = default;

  // Returns the snapshot as seen through the lens; the same pointer if nothing differs. Never null.
  virtual SnapshotPointer through(const SnapshotPointer& snapshot) const = 0;
  virtual DefinitionList::Pointer through(const DefinitionList::Pointer& list) const = 0;
  // Whether the lens may show an entry of these names.
  virtual bool admits(Kind kind, const Names& names) const = 0;
  // Whether the lens shows no entry of that kind, whatever its names.
  virtual bool leaves_nothing(Kind /*kind*/) const { return false; }
};

}  // namespace proteus::catalog
