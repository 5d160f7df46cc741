#pragma once

#include <memory>
#include <string>

#include <proteus/error.hpp>

#include "datasets/sources/source.hpp"

namespace proteus::datasets {

// A SQLite file, opened read-only. Schemas have no meaning here.
Result<std::unique_ptr<Source>> open_sqlite(const std::string& path);

}  // namespace proteus::datasets
