#pragma once

#include <optional>

#include "datasets/sources/source.hpp"

struct sqlite3;

namespace proteus::datasets {

// Reads the structure of a database from its own catalog. Returns nothing if a statement failed; the database then has
// the error.
std::optional<Introspection> introspect_sqlite(sqlite3& database);

}  // namespace proteus::datasets
