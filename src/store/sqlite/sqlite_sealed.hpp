#pragma once

#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "store/records.hpp"
#include "store/sealer.hpp"
#include "store/sqlite/sqlite_connection.hpp"

// Records that are nothing but secret as rows. Writing happens inside a transaction of the caller's.
namespace proteus::store::sqlite {

Result<> write_sealed(SqliteConnection& connection, const Sealer& sealer, const SealedRecord& record);
Result<> remove_sealed(SqliteConnection& connection, const RemoveSealed& remove);

Result<std::vector<SealedRecord>> read_sealed(SqliteConnection& connection, const Sealer& sealer,
                                              std::string_view kind);

// How many records were sealed anew.
Result<std::size_t> reseal_records(SqliteConnection& connection, const Sealer& sealer);

}  // namespace proteus::store::sqlite
