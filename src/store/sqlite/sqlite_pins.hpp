#pragma once

#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "store/records.hpp"
#include "store/sqlite/sqlite_connection.hpp"

// Decisions about definitions as rows. Writing happens inside a transaction of the caller's.
namespace proteus::store::sqlite {

Result<> write_pin(SqliteConnection& connection, const PinRecord& record);
Result<std::vector<PinRecord>> read_pins(SqliteConnection& connection, std::string_view upstream);

}  // namespace proteus::store::sqlite
