#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <proteus/error.hpp>

#include "base/task.hpp"
#include "client/connection.hpp"
#include "client/listing.hpp"

namespace proteus::client {

// The kinds of things a server has lists of.
inline constexpr std::array kListMethods = {mcp::Method::tools_list, mcp::Method::prompts_list,
                                            mcp::Method::resources_list, mcp::Method::resource_templates_list};

// Everything a server has, as it was when it was listed. Immutable once published; each list is shared by the
// inventories it did not change in.
struct Inventory {
  std::array<std::shared_ptr<const Listing>, kListMethods.size()> lists;

  const Listing& of(mcp::Method method) const;
};

// What became of a list, by name.
struct Difference {
  std::vector<std::string> added;
  std::vector<std::string> removed;
  std::vector<std::string> changed;  // other than in the way it is written

  bool empty() const { return added.empty() && removed.empty() && changed.empty(); }
};
Difference difference(const Listing& before, const Listing& after);

// Lists everything. Fails where one list does: a list that could not be read is not an empty one.
Task<Result<std::shared_ptr<const Inventory>>> take_inventory(Connection& connection);

}  // namespace proteus::client
