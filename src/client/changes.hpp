#pragma once

#include <string>
#include <vector>

#include <proteus/client.hpp>

#include "client/inventory.hpp"

namespace proteus::client {

// What became of one list.
struct ListChange {
  mcp::Method list;
  Difference difference;
  std::vector<Change::Breaking> breaking;  // among those that changed
};

// By the rules of catalog/change.hpp. Of lists that changed only; a null inventory has nothing.
std::vector<ListChange> changes_between(const Inventory* before, const Inventory& after);

}  // namespace proteus::client
