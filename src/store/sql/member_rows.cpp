#include "store/sql/member_rows.hpp"

#include "store/sql/rows.hpp"

namespace proteus::store::sql {

Result<> attend(Connection& connection, const MemberRecord& record) {
  const auto now = connection.now();
  if (!now) return std::unexpected(now.error());
  return connection
      .query(
          "INSERT INTO members (name, facts, applied, seen_at) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET"
          " facts = excluded.facts, applied = excluded.applied, seen_at = excluded.seen_at")
      .bind(record.name, record.facts, static_cast<std::int64_t>(record.applied), *now)
      .run();
}

Result<> leave(Connection& connection, std::string_view member) {
  auto released = connection.query("DELETE FROM leases WHERE owner = ?").bind(member).run();
  if (!released) return released;
  return connection.query("DELETE FROM members WHERE name = ?").bind(member).run();
}

Result<> take_leases(Connection& connection, const TakeLeases& take, Written& written) {
  const auto now = connection.now();
  if (!now) return std::unexpected(now.error());
  const auto count = static_cast<std::int64_t>(take.names.size());
  const auto last = count_up(connection, "leases", count);
  if (!last) return std::unexpected(last.error());
  std::int64_t token = *last - count;
  for (const std::string& name : take.names) {
    auto taken = connection
                     .query(
                         "INSERT INTO leases (name, owner, token) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET"
                         " owner = excluded.owner, token = excluded.token WHERE leases.owner <> excluded.owner AND NOT"
                         " EXISTS (SELECT 1 FROM members WHERE members.name = leases.owner AND seen_at > ?)")
                     .bind(name, take.owner, ++token, *now - take.patience.count())
                     .run();
    if (!taken) return taken;
    auto row = connection.query("SELECT token FROM leases WHERE name = ? AND owner = ?");
    const auto own = row.bind(name, take.owner).step();
    if (!own) return std::unexpected(own.error());
    if (*own) written.leases.push_back({.name = name, .owner = take.owner, .token = row.number(0)});
  }
  return {};
}

Result<> release_leases(Connection& connection, const ReleaseLeases& release) {
  for (const std::string& name : release.names) {
    auto done = connection.query("DELETE FROM leases WHERE name = ? AND owner = ?").bind(name, release.owner).run();
    if (!done) return done;
  }
  return {};
}

Result<std::vector<MemberRecord>> read_members(Connection& connection) {
  const auto now = connection.now();
  if (!now) return std::unexpected(now.error());
  std::vector<MemberRecord> records;
  auto row = connection.query("SELECT name, facts, applied, seen_at FROM members ORDER BY name");
  for (;;) {
    const auto more = row.step();
    if (!more) return std::unexpected(more.error());
    if (!*more) return records;
    records.push_back({.name = row.text(0),
                       .facts = row.text(1),
                       .applied = row.number(2),
                       .unseen = std::chrono::microseconds(*now - row.integer(3))});
  }
}

Result<std::vector<LeaseRecord>> read_leases(Connection& connection) {
  std::vector<LeaseRecord> records;
  auto row = connection.query("SELECT name, owner, token FROM leases ORDER BY name");
  for (;;) {
    const auto more = row.step();
    if (!more) return std::unexpected(more.error());
    if (!*more) return records;
    records.push_back({.name = row.text(0), .owner = row.text(1), .token = row.number(2)});
  }
}

}  // namespace proteus::store::sql
