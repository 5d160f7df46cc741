#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "store/sealer.hpp"
#include "store/sql/connection.hpp"

// The hashes by which tokens are known. Each belongs to one owner. A row has the keyed hash and, sealed, the hash it
// was made from, so that it can be keyed again after the pepper has changed.
namespace proteus::store::sql {

// Replaces the hashes of the owner. Fails if another owner has one of the new hashes.
Result<> write_hashes(Connection& connection, const Sealer& sealer, std::string_view owner,
                      const std::vector<std::string>& hashes);
Result<> remove_hashes(Connection& connection, std::string_view owner);
Result<std::size_t> reseal_hashes(Connection& connection, const Sealer& sealer);

}  // namespace proteus::store::sql
