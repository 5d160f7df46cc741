#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "store/records.hpp"
#include "store/sql/connection.hpp"

// Decisions about definitions as rows. Writes run within the caller's transaction.
namespace proteus::store::sql {

Result<> write_pin(Connection& connection, const PinRecord& record, std::int64_t version);
Result<std::vector<PinRecord>> read_pins(Connection& connection, std::string_view upstream);

}  // namespace proteus::store::sql
