#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <proteus/error.hpp>

#include "store/sql/connection.hpp"

namespace proteus::store::sql {

struct CopiedTable {
  std::string name;
  std::size_t rows = 0;
};

// Copies all records in one transaction into a database that has none. Versions and numbers stay the same, and secrets
// stay sealed with the same pepper. Omits what concerns only running processes, such as leases and the feed. Both
// databases must have the newest schema.
Result<std::vector<CopiedTable>> copy(Connection& from, Connection& to);

}  // namespace proteus::store::sql
