#pragma once

#include <string_view>

#include "catalog/definitions/definition_list.hpp"
#include "catalog/definitions/kind.hpp"
#include "catalog/definitions/snapshot.hpp"

namespace proteus::catalog {

// Everything that something goes by.
struct Names {
  std::string_view shown;        // that clients see; a URI for a resource or a template
  std::string_view own;          // at the provider
  std::string_view prefix = {};  // of the provider

  // Whether `name` is one of them, the alias of a portable name among them.
  bool include(std::string_view name) const {
    return name == shown || name == own || (name.starts_with(prefix) && name.substr(prefix.size()) == own);
  }
};

// Shows what providers offer otherwise: some of it, under the same names, in other words. Immutable, and thread-safe.
class Lens {
 public:
  virtual ~Lens() = default;

  // What a snapshot looks like; itself where nothing is other. Never null.
  virtual SnapshotPointer through(const SnapshotPointer& snapshot) const = 0;
  virtual DefinitionList::Pointer through(const DefinitionList::Pointer& list) const = 0;
  // Whether something by these names is there at all.
  virtual bool admits(Kind kind, const Names& names) const = 0;
  // Whether nothing of a kind can be there, whatever its names.
  virtual bool leaves_nothing(Kind /*kind*/) const { return false; }
};

}  // namespace proteus::catalog
