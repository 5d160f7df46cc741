#include <algorithm>

#include "store/sqlite/sqlite_pins.hpp"
#include "store/sqlite/sqlite_query.hpp"
#include "store/sqlite/sqlite_records.hpp"
#include "store/sqlite/sqlite_seal.hpp"
#include "store/sqlite/sqlite_sealed.hpp"
#include "store/sqlite/sqlite_sessions.hpp"
#include "store/sqlite/sqlite_tokens.hpp"

namespace proteus::store::sqlite {
namespace {

std::int64_t up_to(std::int64_t newest, std::size_t kept) {
  return newest - static_cast<std::int64_t>(std::max<std::size_t>(kept, 1));
}

struct Apply {
  SqliteConnection& connection;
  const Sealer& sealer;
  const Retention& retention;
  Written& written;

  Result<> operator()(const PutUpstream& put) const {
    const UpstreamRecord& record = put.record;
    const std::string sealed = record.secrets.empty() ? "" : sealer.seal(record.secrets, seal_binding(record.name));
    return connection
        .query(
            "INSERT INTO upstreams (name, id, created_at, updated_at, settings, secrets, origin, file_hash)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET id = excluded.id,"
            " created_at = excluded.created_at, updated_at = excluded.updated_at, settings = excluded.settings,"
            " secrets = excluded.secrets, origin = excluded.origin, file_hash = excluded.file_hash")
        .bind(record.name, record.id, microseconds(record.created_at), microseconds(record.updated_at), record.settings,
              Blob{sealed}, std::string_view(record.origin == Origin::runtime ? "runtime" : "file override"),
              record.file_hash)
        .run();
  }

  Result<> operator()(const RemoveUpstream& remove) const {
    return connection.query("DELETE FROM upstreams WHERE name = ?").bind(remove.name).run();
  }

  Result<> operator()(const PutSnapshot& put) const {
    const SnapshotRecord& record = put.record;
    return connection
        .query(
            "INSERT OR REPLACE INTO snapshots"
            " (upstream, kind, era, protocol_version, server_facts, taken_at, entries) VALUES (?, ?, ?, ?, ?, ?, ?)")
        .bind(record.upstream, record.kind, record.era, record.protocol_version, record.server_facts,
              microseconds(record.taken_at), record.entries)
        .run();
  }

  Result<> operator()(const RemoveSnapshots& remove) const {
    return connection.query("DELETE FROM snapshots WHERE upstream = ?").bind(remove.upstream).run();
  }

  Result<> operator()(const AppendChange& append) const {
    const ChangeRecord& record = append.record;
    if (auto done = connection.query("INSERT INTO changes (at, upstream, kind, change) VALUES (?, ?, ?, ?)")
                        .bind(microseconds(record.at), record.upstream, record.kind, record.change)
                        .run();
        !done) {
      return done;
    }
    const std::int64_t number = connection.last_row();
    written.changes.push_back(static_cast<std::uint64_t>(number));
    return connection.query("DELETE FROM changes WHERE number <= ?").bind(up_to(number, retention.changes)).run();
  }

  Result<> operator()(const AppendAudit& append) const {
    const AuditRecord& record = append.record;
    if (auto done = connection.query("INSERT INTO audits (at, who, what, detail) VALUES (?, ?, ?, ?)")
                        .bind(microseconds(record.at), record.who, record.what, record.detail)
                        .run();
        !done) {
      return done;
    }
    return connection.query("DELETE FROM audits WHERE number <= ?")
        .bind(up_to(connection.last_row(), retention.audits))
        .run();
  }

  Result<> operator()(const PutSetting& put) const {
    return connection.query("INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)")
        .bind(put.setting.key, put.setting.value)
        .run();
  }

  Result<> operator()(const PutPin& put) const { return write_pin(connection, put.record); }
  Result<> operator()(const SessionWrite auto& of_session) const {
    return write_session(connection, sealer, of_session);
  }
  Result<> operator()(const PutToken& put) const { return write_token(connection, sealer, put.record); }
  Result<> operator()(const RemoveToken& remove) const { return remove_token(connection, remove.name); }
  Result<> operator()(const TouchToken& touch) const { return touch_token(connection, touch); }
  Result<> operator()(const PutSealed& put) const { return write_sealed(connection, sealer, put.record); }
  Result<> operator()(const RemoveSealed& remove) const { return remove_sealed(connection, remove); }
};

}  // namespace

Result<Written> write(SqliteConnection& connection, const Sealer& sealer, const Retention& retention,
                      const Writes& writes) {
  Written written;
  for (const Write& one : writes) {
    if (auto done = std::visit(Apply{connection, sealer, retention, written}, one); !done) {
      return std::unexpected(std::move(done.error()));
    }
  }
  return written;
}

}  // namespace proteus::store::sqlite
