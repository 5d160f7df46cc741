#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "store/records.hpp"
#include "store/sealer.hpp"
#include "store/sql/connection.hpp"

// Records that are nothing but secret as rows. Writing happens inside a transaction of the caller's.
namespace proteus::store::sql {

Result<> write_sealed(Connection& connection, const Sealer& sealer, const PutSealed& put, std::int64_t version);
Result<> remove_sealed(Connection& connection, const RemoveSealed& remove);

// Of a kind, all or one.
Result<std::vector<SealedRecord>> read_sealed(Connection& connection, const Sealer& sealer, std::string_view kind,
                                              std::optional<std::string_view> id);

// How many records were sealed anew.
Result<std::size_t> reseal_records(Connection& connection, const Sealer& sealer);

}  // namespace proteus::store::sql
