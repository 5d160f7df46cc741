#pragma once

#include <expected>
#include <memory>
#include <string_view>

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

  // A principal at a context, the empty one being the plain endpoint. Where it may not be there the error says why, for
  // operators, and the pointer stays as it was.
  std::expected<server::Caller, std::string_view> enter(std::shared_ptr<const Principal>&& principal,
                                                        std::string_view context) const;

  // By name: of the configuration, or else of the tokens made at runtime. Null where there is none.
  std::shared_ptr<const Principal> find_name(std::string_view name) const;

  // For a principal that asked for a context that is not there, or not for it: the answer is the same, and names some
  // that it may enter.
  Error no_such_context(const Principal& principal) const;
};

}  // namespace proteus::gateway
