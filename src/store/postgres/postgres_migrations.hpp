#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include <proteus/error.hpp>

#include "store/postgres/postgres_connection.hpp"

namespace proteus::store {

// Step N takes a database from schema N to N + 1. A released step is never changed.
//
// Two versions of the program use a database at the same time while one replaces the other. A change therefore takes
// two releases. The first expands: it adds what it needs, and rows that the older version writes still work. The second
// contracts: it removes what no version reads any more. Only the second raises `oldest_reader`.
struct PostgresStep {
  std::string_view sql;
  std::int64_t oldest_reader;       // the schema that a program must know to use the database after this step
  std::string_view oldest_version;  // the first version of Proteus that knows that schema
};

std::span<const PostgresStep> postgres_steps();

// Brings the database to the newest schema that this program knows, one step per transaction. One process migrates at a
// time, while others wait up to `turn_timeout`; `then` runs before they go on. Rejects a database whose oldest reader
// is newer than this program.
Result<> migrate(PostgresConnection& connection, std::span<const PostgresStep> steps,
                 const std::function<Result<>()>& then);

}  // namespace proteus::store
