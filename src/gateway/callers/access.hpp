#pragma once

#include <expected>
#include <memory>
#include <string_view>

#include "catalog/contexts/contexts.hpp"
#include "gateway/callers/issued_tokens.hpp"
#include "gateway/callers/principal.hpp"

namespace proteus::gateway {

// All callers that may connect, and their rights. Replaced as a whole by a reload.
struct Access {
  std::shared_ptr<const Principals> principals;
  catalog::Contexts::Pointer contexts;                   // besides the plain endpoint; null for none
  std::shared_ptr<const IssuedTokens> tokens = nullptr;  // made at runtime; null for none

  // Whether all principals and holders of tokens are shown everything.
  bool are_alike() const { return principals->are_alike() && (!tokens || tokens->are_alike()); }

  // Derives in advance what earlier callers will request of a snapshot, so that requests find it cached.
  void look_at(const catalog::SnapshotPointer& snapshot) const;

  // Makes a caller of a principal that enters a context. The empty context is the principal's home, or the plain
  // endpoint if it has none. If the principal may not enter, the error says why, for operators, and `principal` is not
  // moved from.
  std::expected<server::Caller, std::string_view> enter(std::shared_ptr<const Principal>&& principal,
                                                        std::string_view context) const;

  // Finds a principal by name: in the configuration, or else among the tokens made at runtime. Returns null if there is
  // none.
  std::shared_ptr<const Principal> find_name(std::string_view name) const;

  // Returns the error for a principal that requested a context that does not exist, or that it may not enter. The error
  // is the same for both, and names some contexts that the principal may enter.
  Error no_such_context(const Principal& principal) const;
};

}  // namespace proteus::gateway
