#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "store/records.hpp"
#include "store/sealer.hpp"
#include "store/sqlite/sqlite_connection.hpp"

// The records as rows. Writing happens inside a transaction of the caller's.
namespace proteus::store::sqlite {

Result<Written> write(SqliteConnection& connection, const Sealer& sealer, const Retention& retention,
                      const Writes& writes);

Result<std::vector<UpstreamRecord>> read_upstreams(SqliteConnection& connection, const Sealer& sealer);
// All where there is no upstream.
Result<std::vector<SnapshotRecord>> read_snapshots(SqliteConnection& connection,
                                                   const std::optional<std::string>& upstream);
Result<ChangePage> read_changes(SqliteConnection& connection, std::uint64_t since, std::size_t limit);
Result<std::vector<AuditRecord>> read_audits(SqliteConnection& connection, std::size_t limit,
                                             std::optional<std::uint64_t> before);
Result<std::optional<std::string>> read_setting(SqliteConnection& connection, std::string_view key);

// Fails where what is in the database was sealed with a pepper that the sealer does not have. A new database remembers
// the current one.
Result<> check_seal(SqliteConnection& connection, const Sealer& sealer);
// How many records were sealed anew.
Result<std::size_t> reseal(SqliteConnection& connection, const Sealer& sealer);

}  // namespace proteus::store::sqlite
