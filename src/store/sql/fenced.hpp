#pragma once

#include <optional>
#include <string_view>

#include <proteus/error.hpp>

#include "store/member_records.hpp"
#include "store/sql/connection.hpp"

// Inserts on condition that a lease is still held, as one statement: INSERT … SELECT … WHERE {fence_condition} …
// RETURNING 1.
namespace proteus::store::sql {

std::string_view fence_condition(const std::optional<Fence>& fence);

// Binds the parameters of the condition after all others, and runs the query. Fails if the lease was lost.
Result<> run_fenced(Query& query, const std::optional<Fence>& fence);

}  // namespace proteus::store::sql
