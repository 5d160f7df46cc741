#pragma once

#include <cstdint>

#include <proteus/error.hpp>

#include "store/sqlite/sqlite_connection.hpp"

namespace proteus::store {

// The version of the schema that this program writes.
std::int64_t schema_version();

// Brings the database to that version, or to an earlier one, one step per transaction. Refuses a database of another
// program, and one that a newer version of this program wrote.
Result<> migrate(SqliteConnection& connection, std::int64_t to = schema_version());

}  // namespace proteus::store
