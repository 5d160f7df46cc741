#pragma once

#include <memory>
#include <string>

#include <proteus/error.hpp>

#include "base/tasks/task.hpp"
#include "catalog/definitions/kind.hpp"
#include "catalog/pins/change.hpp"
#include "client/connection/all_lists.hpp"
#include "client/connection/connection.hpp"
#include "client/message/listing.hpp"

namespace proteus::client {

// All lists of a server, as they were last read. Immutable once published.
struct Inventory {
  catalog::PerKind<std::optional<Listing>> lists;   // nothing if the list was never read, as opposed to an empty list
  catalog::PerKind<std::optional<Error>> failures;  // why lists could not be read, set for all that are missing
  std::vector<ListFault> faults;
  std::optional<Error> failure;  // the first of them; all lists are then read again
};

// Reads all lists; each request has the members `meta` in its `_meta`. A list that cannot be read is taken from
// `before`. Fails if nothing can be read.
Task<Result<std::shared_ptr<const Inventory>>> take_inventory(Connection& connection, std::string meta,
                                                              std::shared_ptr<const Inventory> before);

// Returns how the definitions changed, by the rules of catalog/pins/change.hpp. A null `before` has no definitions.
catalog::Change changes_between(const Inventory* before, const Inventory& after);

}  // namespace proteus::client
