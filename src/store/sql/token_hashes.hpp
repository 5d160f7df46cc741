#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "store/sealer.hpp"
#include "store/sql/connection.hpp"

// What tokens are known by, each belonging to one owner. A row has a keyed hash, and what was hashed, sealed: so it can
// be hashed anew with another key.
namespace proteus::store::sql {

// Instead of those that the owner had.
Result<> write_hashes(Connection& connection, const Sealer& sealer, std::string_view owner,
                      const std::vector<std::string>& hashes);
Result<> remove_hashes(Connection& connection, std::string_view owner);
Result<std::size_t> reseal_hashes(Connection& connection, const Sealer& sealer);

}  // namespace proteus::store::sql
