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

// Copies every record, as one transaction, into a database that has none yet. Versions and numbers stay the same, and
// secrets stay sealed with the pepper they have. What only concerns processes that run, such as leases and the feed, is
// left out. Both have the newest schema.
Result<std::vector<CopiedTable>> copy(Connection& from, Connection& to);

}  // namespace proteus::store::sql
