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

// The records as rows. Writing happens inside a transaction of the caller's, of which there is one at a time.
namespace proteus::store::sql {

// The conditions of a unit. Changes nothing.
Result<> check_expected(Connection& connection, const Writes& writes);
Result<Written> write(Connection& connection, const Sealer& sealer, const Retention& retention, const Writes& writes);

// All, or the one of this name.
Result<std::vector<UpstreamRecord>> read_upstreams(Connection& connection, const Sealer& sealer,
                                                   const std::optional<std::string>& name);
// All where there is no upstream.
Result<std::vector<SnapshotRecord>> read_snapshots(Connection& connection, const std::optional<std::string>& upstream);
Result<ChangePage> read_changes(Connection& connection, std::uint64_t since, std::size_t limit);
Result<FeedPage> read_feed(Connection& connection, std::uint64_t since, std::size_t limit);
Result<std::vector<AuditRecord>> read_audits(Connection& connection, std::size_t limit,
                                             std::optional<std::uint64_t> before);
Result<std::optional<std::string>> read_setting(Connection& connection, std::string_view key);
Result<std::vector<Setting>> read_settings(Connection& connection, std::string_view prefix);

// Fails where what is in the database was sealed with a pepper that the sealer does not have. A new database remembers
// the current one.
Result<> check_seal(Connection& connection, const Sealer& sealer);
// How many records were sealed anew.
Result<std::size_t> reseal(Connection& connection, const Sealer& sealer);

// The next value of a counter, after it has grown by `count`.
Result<std::int64_t> count_up(Connection& connection, std::string_view counter, std::int64_t count);

}  // namespace proteus::store::sql
