#pragma once

#include <optional>
#include <string_view>

#include <proteus/error.hpp>

#include "store/member_records.hpp"
#include "store/sql/connection.hpp"

// Inserts that a lease is a condition of, as one statement: INSERT … SELECT … WHERE {fence_condition} … RETURNING 1.
namespace proteus::store::sql {

std::string_view fence_condition(const std::optional<Fence>& fence);

// Binds what the condition needs behind the rest, and runs it.
Result<> run_fenced(Query& query, const std::optional<Fence>& fence);

}  // namespace proteus::store::sql
