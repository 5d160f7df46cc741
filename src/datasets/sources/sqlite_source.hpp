#pragma once

#include <memory>
#include <string>

#include <proteus/error.hpp>

#include "datasets/sources/source.hpp"

namespace proteus::datasets {

// Opens an SQLite file read-only. A schema has no meaning here.
Result<std::unique_ptr<Source>> open_sqlite(const std::string& path);

}  // namespace proteus::datasets
