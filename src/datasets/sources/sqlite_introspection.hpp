#pragma once

#include <optional>

#include "datasets/sources/source.hpp"

struct sqlite3;

namespace proteus::datasets {

// What the database has, by its own tables about itself. Nothing where a statement failed: the database says why.
std::optional<Introspection> introspect_sqlite(sqlite3& database);

}  // namespace proteus::datasets
