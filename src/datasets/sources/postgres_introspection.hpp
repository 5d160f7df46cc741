#pragma once

#include <string>

#include <proteus/error.hpp>

#include "datasets/sources/postgres_connection.hpp"
#include "datasets/sources/source.hpp"

namespace proteus::datasets {

// Reads the structure of one schema from the server's own catalog.
Result<Introspection> introspect_postgres(PostgresConnection& connection, const std::string& schema,
                                          const Patience& patience);

}  // namespace proteus::datasets
