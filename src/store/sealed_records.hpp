#pragma once

#include <optional>
#include <string>

#include "store/member_records.hpp"
#include "store/time.hpp"
#include "store/versions.hpp"

// What is nothing but secret, such as grants of users at upstreams.
namespace proteus::store {

// Kind and id identify it. Both are readable at rest, so that neither may tell anything.
struct SealedRecord {
  std::string kind;  // "grant", "client", …
  std::string id;    // random, or a hash
  std::string text;  // JSON, opaque here; sealed wherever it is at rest
  Time updated_at{};
  std::string fault;  // why a read could not open the text, which is empty then; not kept
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
