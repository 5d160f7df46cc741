#include "store/sqlite/sqlite_pins.hpp"

#include "store/sqlite/sqlite_query.hpp"

namespace proteus::store::sqlite {

Result<> write_pin(SqliteConnection& connection, const PinRecord& record) {
  const bool ratified = record.verdict == Verdict::ratified;
  if (ratified) {
    auto removed =
        connection.query("DELETE FROM pins WHERE upstream = ? AND kind = ? AND name = ? AND verdict = 'ratified'")
            .bind(record.upstream, record.kind, record.name)
            .run();
    if (!removed) return removed;
  }
  return connection
      .query(
          "INSERT OR REPLACE INTO pins (upstream, kind, name, hash, verdict, definition, decided_by, at)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(record.upstream, record.kind, record.name, record.hash,
            std::string_view(ratified ? "ratified" : "rejected"), record.definition, record.by,
            record.at.time_since_epoch().count())
      .run();
}

Result<std::vector<PinRecord>> read_pins(SqliteConnection& connection, std::string_view upstream) {
  auto query = connection.query(
      "SELECT upstream, kind, name, hash, verdict, definition, decided_by, at FROM pins WHERE upstream = ?"
      " ORDER BY kind, name, hash");
  query.bind(upstream);
  std::vector<PinRecord> records;
  for (;;) {
    const auto row = query.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return records;
    records.push_back({.upstream = query.text(0),
                       .kind = query.text(1),
                       .name = query.text(2),
                       .hash = query.text(3),
                       .verdict = query.view(4) == "ratified" ? Verdict::ratified : Verdict::rejected,
                       .definition = query.text(5),
                       .by = query.text(6),
                       .at = Time(std::chrono::microseconds(query.integer(7)))});
  }
}

}  // namespace proteus::store::sqlite
