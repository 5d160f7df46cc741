#include <algorithm>

#include <fmt/format.h>

#include "store/sql/rows.hpp"
#include "store/sql/upstream_binding.hpp"

namespace proteus::store::sql {
namespace {

// The databases' integers are signed; no number in them is larger.
std::int64_t clamp(std::uint64_t number) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(number, INT64_MAX));
}

// Returns every row as a record, in the order of the rows.
template <class Record, class ReadRow>
Result<std::vector<Record>> read_rows(Query& query, ReadRow read_row) {
  std::vector<Record> records;
  for (;;) {
    const auto row = query.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return records;
    records.push_back(read_row(query));
  }
}

// Returns the last number of a page that ends at the byte limit, but has at least one record; 0 if there are no
// records. `numbers` has rows of number and size. Sizes are read first, because a database may return all rows at once.
Result<std::int64_t> end_of_page(Query& numbers) {
  std::int64_t last = 0;
  std::size_t bytes = 0;
  for (;;) {
    const auto row = numbers.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return last;
    bytes += static_cast<std::size_t>(numbers.integer(1));
    if (last != 0 && bytes > limits::kPage) return last;
    last = numbers.integer(0);
  }
}

UpstreamRecord read_upstream(const Query& row, const Sealer& sealer) {
  UpstreamRecord record{.name = row.text(0),
                        .id = row.text(1),
                        .created_at = time_of(row.integer(2)),
                        .updated_at = time_of(row.integer(3)),
                        .settings = row.text(4),
                        .secrets = {},
                        .origin = row.view(6) == "runtime" ? Origin::runtime : Origin::file_override,
                        .file_hash = row.text(7),
                        .secrets_fault = {},
                        .stored = {row.number(8)}};
  if (row.is_null(5)) return record;
  auto opened = sealer.open(row.view(5), seal_binding(record.name));
  if (opened) {
    record.secrets = std::move(opened->plain);
  } else {
    record.secrets_fault = opened.error().message();
  }
  return record;
}

SnapshotRecord read_snapshot(const Query& row) {
  return {.upstream = row.text(0),
          .kind = row.text(1),
          .entries = row.text(6),
          .era = row.text(2),
          .protocol_version = row.text(3),
          .server_facts = row.text(4),
          .taken_at = time_of(row.integer(5)),
          .stored = {row.number(7)}};
}

ChangeRecord read_change(const Query& row) {
  return {.number = static_cast<std::uint64_t>(row.integer(0)),
          .at = time_of(row.integer(1)),
          .upstream = row.text(2),
          .kind = row.text(3),
          .change = row.text(4)};
}

AuditRecord read_audit(const Query& row) {
  return {.number = static_cast<std::uint64_t>(row.integer(0)),
          .at = time_of(row.integer(1)),
          .who = row.text(2),
          .what = row.text(3),
          .detail = row.text(4)};
}

// `newest` comes from the counter, because the row with that number may be gone.
struct Ends {
  std::uint64_t oldest = 0;
  std::uint64_t newest = 0;
};

Result<Ends> read_ends(Connection& connection, std::string_view table) {
  auto query = connection.query(
      fmt::format("SELECT coalesce((SELECT min(number) FROM {}), 0), value FROM counters WHERE name = ?", table));
  const auto row = query.bind(table).step();
  if (!row) return std::unexpected(row.error());
  if (!*row) return std::unexpected(proteus::errors::internal("the database has lost a counter"));
  return Ends{.oldest = query.number(0), .newest = query.number(1)};
}

template <class T, class Read>
Result<T> at_one_moment(Connection& connection, Read read) {
  if (auto begun = connection.begin_reading(); !begun) return std::unexpected(std::move(begun.error()));
  try {
    Result<T> result = read();
    auto ended = connection.end_reading();
    if (result && !ended) return std::unexpected(std::move(ended.error()));
    return result;
  } catch (...) {
    // A transaction that stays open would make every later one fail.
    (void)connection.end_reading();
    throw;
  }
}

// Returns the first text that sorts after all texts with this prefix; nothing if there is none.
std::optional<std::string> behind(std::string_view prefix) {
  std::string text(prefix);
  while (!text.empty() && text.back() == '\xff')
    text.pop_back();
  if (text.empty()) return std::nullopt;
  text.back() = static_cast<char>(static_cast<unsigned char>(text.back()) + 1);
  return text;
}

}  // namespace

Result<std::vector<UpstreamRecord>> read_upstreams(Connection& connection, const Sealer& sealer,
                                                   const std::optional<std::string>& name) {
  auto query = connection.query(
      fmt::format("SELECT name, id, created_at, updated_at, settings, secrets, origin, file_hash, version"
                  " FROM upstreams{} ORDER BY place",
                  name ? " WHERE name = ?" : ""));
  if (name) query.bind(*name);
  return read_rows<UpstreamRecord>(query, [&sealer](const Query& row) { return read_upstream(row, sealer); });
}

Result<std::vector<SnapshotRecord>> read_snapshots(Connection& connection, const std::optional<std::string>& upstream) {
  auto query = connection.query(
      fmt::format("SELECT upstream, kind, era, protocol_version, server_facts, taken_at, entries, version"
                  " FROM snapshots{} ORDER BY upstream, kind",
                  upstream ? " WHERE upstream = ?" : ""));
  if (upstream) query.bind(*upstream);
  return read_rows<SnapshotRecord>(query, read_snapshot);
}

Result<ChangePage> read_changes(Connection& connection, std::uint64_t since, std::size_t limit) {
  return at_one_moment<ChangePage>(connection, [&]() -> Result<ChangePage> {
    const auto ends = read_ends(connection, "changes");
    if (!ends) return std::unexpected(ends.error());
    auto numbers =
        connection.query("SELECT number, length(change) FROM changes WHERE number > ? ORDER BY number LIMIT ?");
    const auto last = end_of_page(numbers.bind(clamp(since), clamp(std::min(limit, limits::kRows))));
    if (!last) return std::unexpected(last.error());
    auto query = connection.query(
        "SELECT number, at, upstream, kind, change FROM changes WHERE number > ? AND number <= ? ORDER BY number");
    query.bind(clamp(since), *last);
    auto changes = read_rows<ChangeRecord>(query, read_change);
    if (!changes) return std::unexpected(std::move(changes.error()));
    return ChangePage{.changes = std::move(*changes), .oldest = ends->oldest, .newest = ends->newest};
  });
}

Result<FeedPage> read_feed(Connection& connection, std::uint64_t since, std::size_t limit) {
  return at_one_moment<FeedPage>(connection, [&]() -> Result<FeedPage> {
    const auto ends = read_ends(connection, "feed");
    if (!ends) return std::unexpected(ends.error());
    auto query = connection.query("SELECT number, kind, name, part FROM feed WHERE number > ? ORDER BY number LIMIT ?");
    query.bind(clamp(since), clamp(std::min(limit, limits::kRows)));
    FeedPage page{.entries = {}, .oldest = ends->oldest, .newest = ends->newest};
    for (;;) {
      const auto row = query.step();
      if (!row) return std::unexpected(row.error());
      if (!*row) return page;
      const auto kind = parse_record_kind(query.view(1));
      if (kind) page.entries.push_back({query.number(0), {*kind, query.text(2), query.text(3)}});
    }
  });
}

Result<std::vector<AuditRecord>> read_audits(Connection& connection, std::size_t limit,
                                             std::optional<std::uint64_t> before) {
  return at_one_moment<std::vector<AuditRecord>>(connection, [&]() -> Result<std::vector<AuditRecord>> {
    const std::int64_t below = before ? clamp(*before) : INT64_MAX;
    auto numbers =
        connection.query("SELECT number, length(detail) FROM audits WHERE number < ? ORDER BY number DESC LIMIT ?");
    const auto last = end_of_page(numbers.bind(below, clamp(std::min(limit, limits::kRows))));
    if (!last) return std::unexpected(last.error());
    if (*last == 0) return std::vector<AuditRecord>();
    auto query = connection.query(
        "SELECT number, at, who, what, detail FROM audits WHERE number < ? AND number >= ? ORDER BY number DESC");
    query.bind(below, *last);
    return read_rows<AuditRecord>(query, read_audit);
  });
}

Result<std::optional<std::string>> read_setting(Connection& connection, std::string_view key) {
  auto query = connection.query("SELECT value FROM settings WHERE key = ?");
  query.bind(key);
  const auto row = query.step();
  if (!row) return std::unexpected(row.error());
  if (!*row) return std::nullopt;
  return query.text(0);
}

Result<std::vector<Setting>> read_settings(Connection& connection, std::string_view prefix) {
  const auto end = behind(prefix);
  auto query = connection.query(
      fmt::format("SELECT key, value, version FROM settings WHERE key >= ?{} ORDER BY key", end ? " AND key < ?" : ""));
  query.bind(prefix);
  if (end) query.bind(*end);
  return read_rows<Setting>(query, [](const Query& row) {
    return Setting{.key = row.text(0), .value = row.text(1), .stored = {row.number(2)}};
  });
}

}  // namespace proteus::store::sql
