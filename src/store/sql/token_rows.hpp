#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "store/records.hpp"
#include "store/sealer.hpp"
#include "store/sql/connection.hpp"

// Tokens made at runtime, as rows. Writes run within the caller's transaction.
namespace proteus::store::sql {

Result<> write_token(Connection& connection, const Sealer& sealer, const PutToken& put, std::int64_t version);
Result<> remove_token(Connection& connection, std::string_view name);
Result<> touch_token(Connection& connection, const TouchToken& touch);

Result<std::vector<TokenRecord>> read_tokens(Connection& connection, const Sealer& sealer,
                                             const std::optional<std::string>& name);

// Returns how many records were sealed again.
Result<std::size_t> reseal_tokens(Connection& connection, const Sealer& sealer);

}  // namespace proteus::store::sql
