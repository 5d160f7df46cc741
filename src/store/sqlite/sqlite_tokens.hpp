#pragma once

#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "store/records.hpp"
#include "store/sealer.hpp"
#include "store/sqlite/sqlite_connection.hpp"

// Tokens that were made at runtime as rows. Writing happens inside a transaction of the caller's.
namespace proteus::store::sqlite {

Result<> write_token(SqliteConnection& connection, const Sealer& sealer, const TokenRecord& record);
Result<> remove_token(SqliteConnection& connection, std::string_view name);
Result<> touch_token(SqliteConnection& connection, const TouchToken& touch);

Result<std::vector<TokenRecord>> read_tokens(SqliteConnection& connection, const Sealer& sealer);

// How many records were sealed anew.
Result<std::size_t> reseal_tokens(SqliteConnection& connection, const Sealer& sealer);

}  // namespace proteus::store::sqlite
