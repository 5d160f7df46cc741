#pragma once

#include <memory>
#include <string>

#include <proteus/error.hpp>

#include "base/task.hpp"
#include "catalog/definitions/kind.hpp"
#include "catalog/pins/change.hpp"
#include "client/connection/all_lists.hpp"
#include "client/connection/connection.hpp"
#include "client/message/listing.hpp"

namespace proteus::client {

// Everything a server has, as it was when it was listed. Immutable once published.
struct Inventory {
  catalog::PerKind<std::optional<Listing>> lists;  // nothing where it could never be read, which is not an empty one
  std::vector<ListFault> faults;
  std::optional<Error> failure;  // why not everything could be read; it is to be read again then
};

// Lists everything; each request has these members in its `_meta`. A list that could not be read is the one from
// before. Fails where nothing could be read.
Task<Result<std::shared_ptr<const Inventory>>> take_inventory(Connection& connection, std::string meta,
                                                              std::shared_ptr<const Inventory> before);

// What became of the definitions, by the rules of catalog/change.hpp; a null inventory has nothing.
catalog::Change changes_between(const Inventory* before, const Inventory& after);

}  // namespace proteus::client
