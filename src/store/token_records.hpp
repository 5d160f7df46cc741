#pragma once

#include <string>
#include <vector>

#include "store/time.hpp"
#include "store/versions.hpp"

// What the store keeps of tokens that were made at runtime. Texts called JSON are opaque here: they come back as they
// were put.
namespace proteus::store {

// A token. The name identifies it. There is no trace of the token itself.
struct TokenRecord {
  std::string name;
  std::string access;   // JSON, what its holder may use
  std::string secrets;  // JSON, the hashes it is known by; sealed wherever it is at rest
  Time created_at{};
  // The beginning of time stands for none in all of these.
  Time expires_at{};
  Time previous_until{};  // how long the secret before the last rotation works
  Time last_used_at{};
  std::string secrets_fault;  // why a read could not open the secrets, which are empty then; not kept
  Stored stored{};

  friend bool operator==(const TokenRecord&, const TokenRecord&) = default;
};

struct PutToken {
  TokenRecord record;
  // Hashes of what it is known by. Each belongs to one token or tool session alone: where it is another's already, the
  // unit fails with a conflict. At rest they are hashed once more, with a key.
  std::vector<std::string> hashes{};
};
struct RemoveToken {
  std::string name;
};
// When it was last used; nothing where there is no such token.
struct TouchToken {
  std::string name;
  Time last_used_at{};
};

}  // namespace proteus::store
