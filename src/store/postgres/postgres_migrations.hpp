#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include <proteus/error.hpp>

#include "store/postgres/postgres_connection.hpp"

namespace proteus::store {

// Step N takes a database from schema N to N + 1. A step that was released is never changed.
//
// Processes of two versions use a database at the same time while one replaces the other. So a change takes two
// releases: the first expands (it adds what it needs, and what the older one wrote still works), the next contracts (it
// removes what nobody reads any more), and only that names a newer oldest reader.
struct PostgresStep {
  std::string_view sql;
  std::int64_t oldest_reader;       // the schema a program must know to use the database behind this step
  std::string_view oldest_version;  // of Proteus, that knew it
};

std::span<const PostgresStep> postgres_steps();

// Brings the database to the newest schema that this program knows, one step per transaction; of several processes one
// does, and the others wait; `then` runs before they go on. Refuses a database whose oldest reader is newer than this
// program.
Result<> migrate(PostgresConnection& connection, std::span<const PostgresStep> steps,
                 const std::function<Result<>()>& then);

}  // namespace proteus::store
