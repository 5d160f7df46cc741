#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "store/records.hpp"
#include "store/sealer.hpp"
#include "store/sql/connection.hpp"

// SealedRecords as rows. Writes run within the caller's transaction.
namespace proteus::store::sql {

Result<> write_sealed(Connection& connection, const Sealer& sealer, const PutSealed& put, std::int64_t version);
Result<> remove_sealed(Connection& connection, const RemoveSealed& remove);

// Reads the records of a kind, or the one of this id.
Result<std::vector<SealedRecord>> read_sealed(Connection& connection, const Sealer& sealer, std::string_view kind,
                                              std::optional<std::string_view> id);

// Returns how many records were sealed again.
Result<std::size_t> reseal_records(Connection& connection, const Sealer& sealer);

}  // namespace proteus::store::sql
