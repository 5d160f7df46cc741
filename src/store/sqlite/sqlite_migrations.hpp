#pragma once

#include <cstdint>

#include <proteus/error.hpp>

#include "store/sqlite/sqlite_connection.hpp"

namespace proteus::store {

// Returns the version of the schema that this program writes.
std::int64_t schema_version();

// Brings the database up to version `to`, one step per transaction; leaves a later version alone. Rejects a database of
// another program, and one that a newer version of this program wrote.
Result<> migrate(SqliteConnection& connection, std::int64_t to = schema_version());

}  // namespace proteus::store
