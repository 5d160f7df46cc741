#include <algorithm>

#include "store/sqlite/sqlite_query.hpp"
#include "store/sqlite/sqlite_records.hpp"
#include "store/sqlite/sqlite_seal.hpp"

namespace proteus::store::sqlite {
namespace {

// SQLite's integers are signed; no number is beyond.
std::int64_t clamp(std::uint64_t number) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(number, INT64_MAX));
}

// Every row as a record, in their order, until `enough` says so.
template <class Record, class ReadRow, class Enough>
Result<std::vector<Record>> read_rows(SqliteQuery& query, ReadRow read_row, Enough enough) {
  std::vector<Record> records;
  for (;;) {
    const auto row = query.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return records;
    Record record = read_row(query);
    if (enough(records, record)) return records;
    records.push_back(std::move(record));
  }
}

constexpr auto kAllRows = [](const auto&, const auto&) { return false; };

// Ends a page at the limit of bytes, though never before its first record.
template <class Record>
auto page_is_full(std::string Record::* text) {
  return [text, bytes = std::size_t{0}](const std::vector<Record>& records, const Record& next) mutable {
    bytes += (next.*text).size();
    return !records.empty() && bytes > limits::kPage;
  };
}

UpstreamRecord read_upstream(const SqliteQuery& row, const Sealer& sealer) {
  UpstreamRecord record{.name = row.text(0),
                        .id = row.text(1),
                        .created_at = time_of(row.integer(2)),
                        .updated_at = time_of(row.integer(3)),
                        .settings = row.text(4),
                        .secrets = {},
                        .origin = row.view(6) == "runtime" ? Origin::runtime : Origin::file_override,
                        .file_hash = row.text(7),
                        .secrets_fault = {}};
  if (row.is_null(5)) return record;
  auto opened = sealer.open(row.view(5), seal_binding(record.name));
  if (opened) {
    record.secrets = std::move(opened->plain);
  } else {
    record.secrets_fault = opened.error().message();
  }
  return record;
}

SnapshotRecord read_snapshot(const SqliteQuery& row) {
  return {.upstream = row.text(0),
          .kind = row.text(1),
          .entries = row.text(6),
          .era = row.text(2),
          .protocol_version = row.text(3),
          .server_facts = row.text(4),
          .taken_at = time_of(row.integer(5))};
}

ChangeRecord read_change(const SqliteQuery& row) {
  return {.number = static_cast<std::uint64_t>(row.integer(0)),
          .at = time_of(row.integer(1)),
          .upstream = row.text(2),
          .kind = row.text(3),
          .change = row.text(4)};
}

AuditRecord read_audit(const SqliteQuery& row) {
  return {.number = static_cast<std::uint64_t>(row.integer(0)),
          .at = time_of(row.integer(1)),
          .who = row.text(2),
          .what = row.text(3),
          .detail = row.text(4)};
}

}  // namespace

Result<std::vector<UpstreamRecord>> read_upstreams(SqliteConnection& connection, const Sealer& sealer) {
  auto query = connection.query(
      "SELECT name, id, created_at, updated_at, settings, secrets, origin, file_hash FROM upstreams ORDER BY place");
  return read_rows<UpstreamRecord>(
      query, [&sealer](const SqliteQuery& row) { return read_upstream(row, sealer); }, kAllRows);
}

Result<std::vector<SnapshotRecord>> read_snapshots(SqliteConnection& connection,
                                                   const std::optional<std::string>& upstream) {
  if (!upstream) {
    auto query = connection.query(
        "SELECT upstream, kind, era, protocol_version, server_facts, taken_at, entries FROM snapshots"
        " ORDER BY upstream, kind");
    return read_rows<SnapshotRecord>(query, read_snapshot, kAllRows);
  }
  auto query = connection.query(
      "SELECT upstream, kind, era, protocol_version, server_facts, taken_at, entries FROM snapshots WHERE upstream = ?"
      " ORDER BY kind");
  query.bind(*upstream);
  return read_rows<SnapshotRecord>(query, read_snapshot, kAllRows);
}

Result<ChangePage> read_changes(SqliteConnection& connection, std::uint64_t since, std::size_t limit) {
  ChangePage page;
  // Stays open, which keeps this and the page at one moment.
  auto ends = connection.query(
      "SELECT ifnull((SELECT min(number) FROM changes), 0),"
      " ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0)");
  const auto row = ends.step();
  if (!row) return std::unexpected(row.error());
  page.oldest = static_cast<std::uint64_t>(ends.integer(0));
  page.newest = static_cast<std::uint64_t>(ends.integer(1));
  auto query = connection.query(
      "SELECT number, at, upstream, kind, change FROM changes WHERE number > ? ORDER BY number LIMIT ?");
  query.bind(clamp(since), clamp(std::min(limit, limits::kRows)));
  auto changes = read_rows<ChangeRecord>(query, read_change, page_is_full(&ChangeRecord::change));
  if (!changes) return std::unexpected(std::move(changes.error()));
  page.changes = std::move(*changes);
  return page;
}

Result<std::vector<AuditRecord>> read_audits(SqliteConnection& connection, std::size_t limit,
                                             std::optional<std::uint64_t> before) {
  auto query = connection.query(
      "SELECT number, at, who, what, detail FROM audits WHERE number < ? ORDER BY number DESC LIMIT ?");
  query.bind(before ? clamp(*before) : INT64_MAX, clamp(std::min(limit, limits::kRows)));
  return read_rows<AuditRecord>(query, read_audit, page_is_full(&AuditRecord::detail));
}

Result<std::optional<std::string>> read_setting(SqliteConnection& connection, std::string_view key) {
  auto query = connection.query("SELECT value FROM settings WHERE key = ?");
  query.bind(key);
  const auto row = query.step();
  if (!row) return std::unexpected(row.error());
  if (!*row) return std::nullopt;
  return query.text(0);
}

}  // namespace proteus::store::sqlite
