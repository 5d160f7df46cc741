#pragma once

#include <memory>
#include <string>

#include <proteus/error.hpp>

#include "base/secrets/secret.hpp"
#include "datasets/sources/source.hpp"

namespace proteus::datasets {

// Opens a read-only session with a PostgreSQL database. Its tables are those of one schema.
Result<std::unique_ptr<Source>> open_postgres(const Secret& url, const std::string& schema, const Patience& patience);

}  // namespace proteus::datasets
