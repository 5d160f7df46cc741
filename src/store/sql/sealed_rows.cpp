#include "store/sql/sealed_rows.hpp"

#include <fmt/format.h>

#include "store/sql/fenced.hpp"

namespace proteus::store::sql {
namespace {

// The binding of a record. Part of the format: with another text nothing can be opened.
std::string record_binding(std::string_view kind, std::string_view id) { return fmt::format("{} {}", kind, id); }

}  // namespace

Result<> write_sealed(Connection& connection, const Sealer& sealer, const PutSealed& put, std::int64_t version) {
  const SealedRecord& record = put.record;
  const std::string sealed = sealer.seal(record.text, record_binding(record.kind, record.id));
  auto query = connection.query(
      fmt::format("INSERT INTO sealed_records (kind, id, sealed, updated_at, version) SELECT ?, ?, ?, ?, ? WHERE {}"
                  " ON CONFLICT (kind, id) DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at,"
                  " version = excluded.version RETURNING 1",
                  fence_condition(put.fence)));
  query.bind(record.kind, record.id, Blob{sealed}, microseconds(record.updated_at), version);
  return run_fenced(query, put.fence);
}

Result<> remove_sealed(Connection& connection, const RemoveSealed& remove) {
  return connection.query("DELETE FROM sealed_records WHERE kind = ? AND id = ?").bind(remove.kind, remove.id).run();
}

Result<std::vector<SealedRecord>> read_sealed(Connection& connection, const Sealer& sealer, std::string_view kind,
                                              std::optional<std::string_view> id) {
  std::vector<SealedRecord> records;
  auto row = connection.query(
      fmt::format("SELECT id, sealed, updated_at, version FROM sealed_records WHERE kind = ?{} ORDER BY id",
                  id ? " AND id = ?" : ""));
  row.bind(kind);
  if (id) row.bind(*id);
  for (;;) {
    const auto more = row.step();
    if (!more) return std::unexpected(more.error());
    if (!*more) return records;
    SealedRecord& record = records.emplace_back(SealedRecord{.kind = std::string(kind),
                                                             .id = row.text(0),
                                                             .text = {},
                                                             .updated_at = time_of(row.integer(2)),
                                                             .fault = {},
                                                             .stored = {row.number(3)}});
    auto opened = sealer.open(row.view(1), record_binding(record.kind, record.id));
    if (opened) {
      record.text = std::move(opened->plain);
    } else {
      record.fault = opened.error().message();
    }
  }
}

Result<std::size_t> reseal_records(Connection& connection, const Sealer& sealer) {
  struct ResealedRecord {
    std::string kind;
    std::string id;
    std::string sealed;
  };
  std::vector<ResealedRecord> resealed;
  {
    auto row = connection.query("SELECT kind, id, sealed FROM sealed_records");
    for (;;) {
      const auto more = row.step();
      if (!more) return std::unexpected(more.error());
      if (!*more) break;
      std::string kind = row.text(0);
      std::string id = row.text(1);
      const std::string binding = record_binding(kind, id);
      auto opened = sealer.open(row.view(2), binding);
      if (!opened) return std::unexpected(std::move(opened.error()));
      if (opened->with == SealedWith::current) continue;
      resealed.push_back({std::move(kind), std::move(id), sealer.seal(opened->plain, binding)});
    }
  }
  for (const ResealedRecord& one : resealed) {
    auto done = connection.query("UPDATE sealed_records SET sealed = ? WHERE kind = ? AND id = ?")
                    .bind(Blob{one.sealed}, one.kind, one.id)
                    .run();
    if (!done) return std::unexpected(std::move(done.error()));
  }
  return resealed.size();
}

}  // namespace proteus::store::sql
