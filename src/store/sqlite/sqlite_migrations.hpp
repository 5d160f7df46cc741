#pragma once

#include <cstdint>

#include <proteus/error.hpp>

#include "store/sqlite/sqlite_connection.hpp"

namespace proteus::store {

// The version of the schema that this program writes.
std::int64_t schema_version();

// Brings the database to that version, one step per transaction. Refuses a database of another program, and one that a
// newer version of this program wrote.
Result<> migrate(SqliteConnection& connection);

}  // namespace proteus::store
