#pragma once

#include <memory>
#include <string>

#include <proteus/error.hpp>

#include "base/task.hpp"
#include "catalog/change.hpp"
#include "catalog/kind.hpp"
#include "client/connection.hpp"
#include "client/listing.hpp"

namespace proteus::client {

// Everything a server has, as it was when it was listed. Immutable once published.
struct Inventory {
  catalog::PerKind<Listing> lists;
};

// Lists everything; each request has these members in its `_meta`. Fails where one list does: a list that could not be
// read is not an empty one.
Task<Result<std::shared_ptr<const Inventory>>> take_inventory(Connection& connection, std::string meta);

// What became of the definitions, by the rules of catalog/change.hpp; a null inventory has nothing.
catalog::Change changes_between(const Inventory* before, const Inventory& after);

}  // namespace proteus::client
