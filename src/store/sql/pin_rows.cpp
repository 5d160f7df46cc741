#include "store/sql/pin_rows.hpp"

namespace proteus::store::sql {

Result<> write_pin(Connection& connection, const PinRecord& record, std::int64_t version) {
  const bool ratified = record.verdict == Verdict::ratified;
  auto replaced = connection.query("DELETE FROM pins WHERE upstream = ? AND kind = ? AND name = ? AND hash = ?")
                      .bind(record.upstream, record.kind, record.name, record.hash)
                      .run();
  if (!replaced) return replaced;
  if (ratified) {
    auto removed =
        connection.query("DELETE FROM pins WHERE upstream = ? AND kind = ? AND name = ? AND verdict = 'ratified'")
            .bind(record.upstream, record.kind, record.name)
            .run();
    if (!removed) return removed;
  }
  return connection
      .query(
          "INSERT INTO pins (upstream, kind, name, hash, verdict, definition, decided_by, at, version)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(record.upstream, record.kind, record.name, record.hash,
            std::string_view(ratified ? "ratified" : "rejected"), record.definition, record.by, microseconds(record.at),
            version)
      .run();
}

Result<std::vector<PinRecord>> read_pins(Connection& connection, std::string_view upstream) {
  auto query = connection.query(
      "SELECT upstream, kind, name, hash, verdict, definition, decided_by, at, version FROM pins WHERE upstream = ?"
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
                       .at = time_of(query.integer(7)),
                       .stored = {query.number(8)}});
  }
}

}  // namespace proteus::store::sql
