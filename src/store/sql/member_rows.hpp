#pragma once

#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "store/records.hpp"
#include "store/sql/connection.hpp"

// Processes and leases as rows. Writes run within the caller's transaction; only one transaction writes at a time.
namespace proteus::store::sql {

Result<> attend(Connection& connection, const MemberRecord& record);
Result<> leave(Connection& connection, std::string_view member);
Result<> take_leases(Connection& connection, const TakeLeases& take, Written& written);
Result<> release_leases(Connection& connection, const ReleaseLeases& release);

Result<std::vector<MemberRecord>> read_members(Connection& connection);
Result<std::vector<LeaseRecord>> read_leases(Connection& connection);

}  // namespace proteus::store::sql
