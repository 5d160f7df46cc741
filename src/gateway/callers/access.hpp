#pragma once

#include <memory>

#include "catalog/contexts/contexts.hpp"
#include "gateway/callers/issued_tokens.hpp"
#include "gateway/callers/principal.hpp"

namespace proteus::gateway {

// Who may ask, and for what: replaced as a whole by a reload.
struct Access {
  std::shared_ptr<const Principals> principals;
  catalog::Contexts::Pointer contexts;                   // besides the plain one; null for none
  std::shared_ptr<const IssuedTokens> tokens = nullptr;  // made at runtime, besides those of the configuration

  // Whether all of their holders may use the same.
  bool are_alike() const { return principals->are_alike() && (!tokens || tokens->are_alike()); }

  // Works out what a snapshot will look like to those who have looked before.
  void look_at(const catalog::SnapshotPointer& snapshot) const;

  // For a principal that asked for a context that is not there, or not for it: the answer is the same, and names some
  // that it may enter.
  Error no_such_context(const Principal& principal) const;
};

}  // namespace proteus::gateway
