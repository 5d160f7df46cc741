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

// The records as rows. Writes run within the caller's transaction; only one transaction writes at a time.
namespace proteus::store::sql {

// Checks the conditions (`Expect`) of a unit. Changes nothing.
Result<> check_expected(Connection& connection, const Writes& writes);
Result<Written> write(Connection& connection, const Sealer& sealer, const Retention& retention, const Writes& writes);

// Reads all upstreams, or the one of this name.
Result<std::vector<UpstreamRecord>> read_upstreams(Connection& connection, const Sealer& sealer,
                                                   const std::optional<std::string>& name);
// Reads the snapshots of one upstream, or of all if `upstream` is empty.
Result<std::vector<SnapshotRecord>> read_snapshots(Connection& connection, const std::optional<std::string>& upstream);
Result<ChangePage> read_changes(Connection& connection, std::uint64_t since, std::size_t limit);
Result<FeedPage> read_feed(Connection& connection, std::uint64_t since, std::size_t limit);
Result<std::vector<AuditRecord>> read_audits(Connection& connection, std::size_t limit,
                                             std::optional<std::uint64_t> before);
Result<std::optional<std::string>> read_setting(Connection& connection, std::string_view key);
Result<std::vector<Setting>> read_settings(Connection& connection, std::string_view prefix);

// Fails if the database was sealed with a pepper that the sealer does not have. In a new database, stores a check text
// that is sealed with the current pepper.
Result<> check_seal(Connection& connection, const Sealer& sealer);
// Returns how many records were sealed again.
Result<std::size_t> reseal(Connection& connection, const Sealer& sealer);

// Adds `count` to a counter and returns its new value.
Result<std::int64_t> count_up(Connection& connection, std::string_view counter, std::int64_t count);

}  // namespace proteus::store::sql
