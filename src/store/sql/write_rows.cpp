#include <algorithm>

#include <fmt/format.h>

#include "store/sql/fenced.hpp"
#include "store/sql/member_rows.hpp"
#include "store/sql/pin_rows.hpp"
#include "store/sql/rows.hpp"
#include "store/sql/sealed_rows.hpp"
#include "store/sql/session_rows.hpp"
#include "store/sql/token_rows.hpp"
#include "store/sql/upstream_binding.hpp"

namespace proteus::store::sql {
namespace {

std::int64_t up_to(std::int64_t newest, std::size_t kept) {
  return newest - static_cast<std::int64_t>(std::max<std::size_t>(kept, 1));
}

struct Apply {
  Connection& connection;
  const Sealer& sealer;
  const Retention& retention;
  Written& written;
  std::int64_t version;  // of the record to write

  Result<> operator()(const PutUpstream& put) const {
    const UpstreamRecord& record = put.record;
    const std::string sealed = record.secrets.empty() ? "" : sealer.seal(record.secrets, seal_binding(record.name));
    return connection
        .query(
            "INSERT INTO upstreams (name, id, created_at, updated_at, settings, secrets, origin, file_hash, version)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET id = excluded.id,"
            " created_at = excluded.created_at, updated_at = excluded.updated_at, settings = excluded.settings,"
            " secrets = excluded.secrets, origin = excluded.origin, file_hash = excluded.file_hash,"
            " version = excluded.version")
        .bind(record.name, record.id, microseconds(record.created_at), microseconds(record.updated_at), record.settings,
              Blob{sealed}, std::string_view(record.origin == Origin::runtime ? "runtime" : "file override"),
              record.file_hash, version)
        .run();
  }

  Result<> operator()(const RemoveUpstream& remove) const {
    return connection.query("DELETE FROM upstreams WHERE name = ?").bind(remove.name).run();
  }

  Result<> operator()(const PutSnapshot& put) const {
    const SnapshotRecord& record = put.record;
    auto query = connection.query(fmt::format(
        "INSERT INTO snapshots (upstream, kind, era, protocol_version, server_facts, taken_at, entries, version)"
        " SELECT ?, ?, ?, ?, ?, ?, ?, ? WHERE {} ON CONFLICT (upstream, kind) DO UPDATE SET era = excluded.era,"
        " protocol_version = excluded.protocol_version, server_facts = excluded.server_facts,"
        " taken_at = excluded.taken_at, entries = excluded.entries, version = excluded.version RETURNING 1",
        fence_condition(put.fence)));
    query.bind(record.upstream, record.kind, record.era, record.protocol_version, record.server_facts,
               microseconds(record.taken_at), record.entries, version);
    return run_fenced(query, put.fence);
  }

  Result<> operator()(const RemoveSnapshots& remove) const {
    return connection.query("DELETE FROM snapshots WHERE upstream = ?").bind(remove.upstream).run();
  }

  Result<> operator()(const AppendChange& append) const {
    const ChangeRecord& record = append.record;
    const auto number = count_up(connection, "changes", 1);
    if (!number) return std::unexpected(number.error());
    auto done = connection.query("INSERT INTO changes (number, at, upstream, kind, change) VALUES (?, ?, ?, ?, ?)")
                    .bind(*number, microseconds(record.at), record.upstream, record.kind, record.change)
                    .run();
    if (!done) return done;
    written.changes.push_back(static_cast<std::uint64_t>(*number));
    return connection.query("DELETE FROM changes WHERE number <= ?").bind(up_to(*number, retention.changes)).run();
  }

  Result<> operator()(const AppendAudit& append) const {
    const AuditRecord& record = append.record;
    const auto number = count_up(connection, "audits", 1);
    if (!number) return std::unexpected(number.error());
    auto done = connection.query("INSERT INTO audits (number, at, who, what, detail) VALUES (?, ?, ?, ?, ?)")
                    .bind(*number, microseconds(record.at), record.who, record.what, record.detail)
                    .run();
    if (!done) return done;
    return connection.query("DELETE FROM audits WHERE number <= ?").bind(up_to(*number, retention.audits)).run();
  }

  Result<> operator()(const PutSetting& put) const {
    return connection
        .query(
            "INSERT INTO settings (key, value, version) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET"
            " value = excluded.value, version = excluded.version")
        .bind(put.setting.key, put.setting.value, version)
        .run();
  }

  Result<> operator()(const RemoveSetting& remove) const {
    return connection.query("DELETE FROM settings WHERE key = ?").bind(remove.key).run();
  }

  Result<> operator()(const PutPin& put) const { return write_pin(connection, put.record, version); }
  Result<> operator()(const SessionWrite auto& of_session) const {
    return write_session(connection, sealer, of_session, version);
  }
  Result<> operator()(const PutToken& put) const { return write_token(connection, sealer, put, version); }
  Result<> operator()(const RemoveToken& remove) const { return remove_token(connection, remove.name); }
  Result<> operator()(const TouchToken& touch) const { return touch_token(connection, touch); }
  Result<> operator()(const PutSealed& put) const { return write_sealed(connection, sealer, put, version); }
  Result<> operator()(const RemoveSealed& remove) const { return remove_sealed(connection, remove); }
  Result<> operator()(const Expect& /*unused*/) const { return {}; }  // see check_expected
  Result<> operator()(const Attend& of_member) const { return attend(connection, of_member.record); }
  Result<> operator()(const Leave& of_member) const { return leave(connection, of_member.member); }
  Result<> operator()(const TakeLeases& take) const { return take_leases(connection, take, written); }
  Result<> operator()(const ReleaseLeases& release) const { return release_leases(connection, release); }
};

Result<> append_to_feed(Connection& connection, std::int64_t number, const RecordKey& key) {
  return connection.query("INSERT INTO feed (number, kind, name, part) VALUES (?, ?, ?, ?)")
      .bind(number, to_string(key.kind), key.name, key.part)
      .run();
}

// Does not trim at every write, which saves a statement.
Result<> trim_feed(Connection& connection, std::int64_t before, std::int64_t newest, std::size_t kept) {
  const std::int64_t step = static_cast<std::int64_t>(std::min<std::size_t>(kept, 64));
  if (before / step == newest / step) return {};
  return connection.query("DELETE FROM feed WHERE number <= ?").bind(up_to(newest, kept)).run();
}

}  // namespace

Result<std::int64_t> count_up(Connection& connection, std::string_view counter, std::int64_t count) {
  auto query = connection.query("UPDATE counters SET value = value + ? WHERE name = ? RETURNING value");
  const auto row = query.bind(count, counter).step();
  if (!row) return std::unexpected(row.error());
  if (!*row) return std::unexpected(proteus::errors::internal("the database has lost a counter"));
  return query.integer(0);
}

Result<Written> write(Connection& connection, const Sealer& sealer, const Retention& retention, const Writes& writes) {
  Written written;
  const auto count = static_cast<std::int64_t>(count_in_feed(writes));
  std::int64_t version = 0;
  if (count > 0) {
    const auto newest = count_up(connection, "feed", count);
    if (!newest) return std::unexpected(newest.error());
    version = *newest - count;
  }
  const std::int64_t before = version;
  for (const Write& one : writes) {
    const auto key = key_of(one);
    if (key) written.versions.push_back(static_cast<std::uint64_t>(++version));
    if (auto done = std::visit(Apply{connection, sealer, retention, written, version}, one); !done)
      return std::unexpected(std::move(done.error()));
    if (!key || retention.feed == 0) continue;
    if (auto fed = append_to_feed(connection, version, *key); !fed) return std::unexpected(std::move(fed.error()));
  }
  if (retention.feed > 0) {
    if (auto trimmed = trim_feed(connection, before, version, retention.feed); !trimmed)
      return std::unexpected(std::move(trimmed.error()));
  }
  return written;
}

}  // namespace proteus::store::sql
