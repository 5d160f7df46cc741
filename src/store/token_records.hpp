#pragma once

#include <string>
#include <vector>

#include "store/time.hpp"
#include "store/versions.hpp"

// The records of tokens that were made at runtime. Texts that are called JSON are opaque to the store: it returns
// them unchanged.
namespace proteus::store {

// A token. Identified by its name. The token itself is not stored.
struct TokenRecord {
  std::string name;
  std::string access;   // JSON, what its holder may use
  std::string secrets;  // JSON, the hashes by which it is known; sealed at rest
  Time created_at{};
  // In all of these, the epoch stands for none.
  Time expires_at{};
  Time previous_until{};  // until when the secret before the last rotation works
  Time last_used_at{};
  std::string secrets_fault;  // why a read could not open the secrets, which are then empty; not stored
  Stored stored{};

  friend bool operator==(const TokenRecord&, const TokenRecord&) = default;
};

struct PutToken {
  TokenRecord record;
  // Hashes of the token's secrets. A hash belongs to a single token or tool session: if another owner has it, the unit
  // fails with a conflict. At rest the hashes are hashed again, with a key.
  std::vector<std::string> hashes{};
};
struct RemoveToken {
  std::string name;
};
// Records the time of the last use, unless a later one is recorded. Does nothing if there is no such token.
struct TouchToken {
  std::string name;
  Time last_used_at{};
};

}  // namespace proteus::store
