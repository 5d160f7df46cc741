#include "store/sql/copy.hpp"

#include <cstdint>
#include <string_view>

#include <fmt/format.h>

namespace proteus::store::sql {
namespace {

enum class ColumnType : std::uint8_t { number, text, blob };

struct Column {
  std::string_view name;
  ColumnType type = ColumnType::text;
};

struct Table {
  std::string_view name;
  std::string_view order;
  std::vector<Column> columns;
};

constexpr auto kNumber = ColumnType::number;
constexpr auto kBlob = ColumnType::blob;

std::vector<Table> all_tables() {
  return {
      {"upstreams",
       "place",
       {{"name"},
        {"id"},
        {"created_at", kNumber},
        {"updated_at", kNumber},
        {"settings"},
        {"secrets", kBlob},
        {"origin"},
        {"file_hash"},
        {"version", kNumber}}},
      {"snapshots",
       "upstream, kind",
       {{"upstream"},
        {"kind"},
        {"era"},
        {"protocol_version"},
        {"server_facts"},
        {"taken_at", kNumber},
        {"entries"},
        {"version", kNumber}}},
      {"changes", "number", {{"number", kNumber}, {"at", kNumber}, {"upstream"}, {"kind"}, {"change"}}},
      {"audits", "number", {{"number", kNumber}, {"at", kNumber}, {"who"}, {"what"}, {"detail"}}},
      {"settings", "key", {{"key"}, {"value"}, {"version", kNumber}}},
      {"pins",
       "upstream, kind, name, hash",
       {{"upstream"},
        {"kind"},
        {"name"},
        {"hash"},
        {"verdict"},
        {"definition"},
        {"decided_by"},
        {"at", kNumber},
        {"version", kNumber}}},
      {"tool_sessions",
       "id",
       {{"id"},
        {"user_id"},
        {"secrets", kBlob},
        {"context"},
        {"catalog"},
        {"created_at", kNumber},
        {"last_used_at", kNumber},
        {"version", kNumber}}},
      {"session_tools",
       "session, name",
       {{"session"}, {"name"}, {"definition"}, {"secrets", kBlob}, {"version", kNumber}}},
      {"tokens",
       "name",
       {{"name"},
        {"access"},
        {"secrets", kBlob},
        {"created_at", kNumber},
        {"expires_at", kNumber},
        {"previous_until", kNumber},
        {"last_used_at", kNumber},
        {"version", kNumber}}},
      {"sealed_records",
       "kind, id",
       {{"kind"}, {"id"}, {"sealed", kBlob}, {"updated_at", kNumber}, {"version", kNumber}}},
      {"token_hashes", "hash", {{"hash", kBlob}, {"owner"}, {"sealed", kBlob}}},
  };
}

std::string names_of(const Table& table) {
  std::string names;
  for (const Column& column : table.columns)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", column.name);
  return names;
}

Result<> check_empty(Connection& to, const Table& table) {
  auto row = to.query(fmt::format("SELECT 1 FROM {} LIMIT 1", table.name));
  const auto found = row.step();
  if (!found) return std::unexpected(found.error());
  if (*found)
    return std::unexpected(proteus::errors::conflict(fmt::format("{} has {} already", to.name(), table.name)));
  return {};
}

Result<std::size_t> copy_table(Connection& from, Connection& to, const Table& table) {
  if (auto empty = check_empty(to, table); !empty) return std::unexpected(std::move(empty.error()));
  const std::string names = names_of(table);
  std::string places = "?";
  for (std::size_t i = 1; i < table.columns.size(); ++i)
    places += ", ?";
  const std::string insert = fmt::format("INSERT INTO {} ({}) VALUES ({})", table.name, names, places);
  auto row = from.query(fmt::format("SELECT {} FROM {} ORDER BY {}", names, table.name, table.order));
  for (std::size_t rows = 0;; ++rows) {
    const auto more = row.step();
    if (!more) return std::unexpected(more.error());
    if (!*more) return rows;
    auto query = to.query(insert);
    for (int i = 0; i < static_cast<int>(table.columns.size()); ++i) {
      switch (table.columns[static_cast<std::size_t>(i)].type) {
        case ColumnType::number: query.bind(row.integer(i)); break;
        case ColumnType::text: query.bind(row.view(i)); break;
        case ColumnType::blob: query.bind(Blob{row.is_null(i) ? std::string_view() : row.view(i)}); break;
      }
    }
    if (auto done = query.run(); !done) return std::unexpected(std::move(done.error()));
  }
}

// Raises the counters, so that `to` does not reuse numbers and versions that `from` has assigned. Those that it has
// assigned itself in an earlier life still stand in its feed and leases.
Result<> copy_counters(Connection& from, Connection& to) {
  auto row = from.query("SELECT name, value FROM counters");
  for (;;) {
    const auto more = row.step();
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
    auto done = to.query("UPDATE counters SET value = ? WHERE name = ? AND value < ?")
                    .bind(row.integer(1), row.view(0), row.integer(1))
                    .run();
    if (!done) return done;
  }
}

Result<std::vector<CopiedTable>> copy_all(Connection& from, Connection& to) {
  std::vector<CopiedTable> copied;
  for (const Table& table : all_tables()) {
    const auto rows = copy_table(from, to, table);
    if (!rows) return std::unexpected(rows.error());
    copied.push_back({std::string(table.name), *rows});
  }
  if (auto done = copy_counters(from, to); !done) return std::unexpected(std::move(done.error()));
  return copied;
}

}  // namespace

Result<std::vector<CopiedTable>> copy(Connection& from, Connection& to) {
  if (auto reading = from.begin_reading(); !reading) return std::unexpected(std::move(reading.error()));
  auto begun = to.begin_writing();
  auto copied = begun ? copy_all(from, to) : std::unexpected(std::move(begun.error()));
  static_cast<void>(from.end_reading());
  auto ended = to.end_writing(copied ? Ending::commit : Ending::roll_back);
  if (copied && !ended) return std::unexpected(std::move(ended.error()));
  return copied;
}

}  // namespace proteus::store::sql
