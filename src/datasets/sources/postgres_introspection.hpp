#pragma once

#include <string>

#include <proteus/error.hpp>

#include "datasets/sources/postgres_connection.hpp"
#include "datasets/sources/source.hpp"

namespace proteus::datasets {

// What a schema of the database has, by the server's own catalog.
Result<Introspection> introspect_postgres(PostgresConnection& connection, const std::string& schema,
                                          const Patience& patience);

}  // namespace proteus::datasets
