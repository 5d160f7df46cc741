#pragma once

#include <optional>
#include <string>

#include "store/member_records.hpp"
#include "store/time.hpp"
#include "store/versions.hpp"

// Records whose whole content is secret, such as users' grants at upstreams.
namespace proteus::store {

// Identified by kind and id. Both are readable at rest, so neither may reveal anything.
struct SealedRecord {
  std::string kind;  // "grant", "client", …
  std::string id;    // random, or a hash
  std::string text;  // JSON, opaque to the store; sealed at rest
  Time updated_at{};
  std::string fault;  // why a read could not open the text, which is then empty; not stored
  Stored stored{};

  friend bool operator==(const SealedRecord&, const SealedRecord&) = default;
};

struct PutSealed {
  SealedRecord record;
  std::optional<Fence> fence{};
};
struct RemoveSealed {
  std::string kind;
  std::string id;
};

}  // namespace proteus::store
