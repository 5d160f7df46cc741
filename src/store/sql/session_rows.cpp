#include "store/sql/session_rows.hpp"

#include <fmt/format.h>

#include "store/sql/token_hashes.hpp"

namespace proteus::store::sql {
namespace {

// The bindings of secrets. Part of the format: with another text nothing can be opened. The length keeps the texts of
// two different pairs of session and tool apart; a session id contains no spaces.
std::string session_binding(std::string_view id) { return fmt::format("the secrets of tool session {}", id); }
std::string tool_binding(std::string_view session, std::string_view name) {
  return fmt::format("the secrets of tool {} of session {}:{}", name, session.size(), session);
}

std::string session_owner(std::string_view id) { return fmt::format("session {}", id); }

std::string sealed_or_empty(const Sealer& sealer, const std::string& plain, const std::string& bound) {
  return plain.empty() ? std::string() : sealer.seal(plain, bound);
}

template <class Record>
void open_secrets(Record& record, const Query& row, int column, const Sealer& sealer, const std::string& bound) {
  if (row.is_null(column)) return;
  auto opened = sealer.open(row.view(column), bound);
  if (opened) {
    record.secrets = std::move(opened->plain);
  } else {
    record.secrets_fault = opened.error().message();
  }
}

struct ResealedTool {
  std::string session;
  std::string name;  // of a tool; empty for a session
  std::string sealed;
};

// Reads rows of session, name and secrets. Seals again what was not sealed with the current key.
template <class Binding>
Result<std::vector<ResealedTool>> seal_anew(Query& query, const Sealer& sealer, Binding binding) {
  std::vector<ResealedTool> resealed;
  for (;;) {
    const auto row = query.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return resealed;
    ResealedTool one{query.text(0), query.text(1), {}};
    const std::string bound = binding(one);
    auto opened = sealer.open(query.view(2), bound);
    if (!opened) return std::unexpected(std::move(opened.error()));
    if (opened->with == SealedWith::current) continue;
    one.sealed = sealer.seal(opened->plain, bound);
    resealed.push_back(std::move(one));
  }
}

Result<std::size_t> reseal_tool_sessions(Connection& connection, const Sealer& sealer) {
  auto query = connection.query("SELECT id, '', secrets FROM tool_sessions WHERE secrets IS NOT NULL");
  const auto resealed = seal_anew(query, sealer, [](const ResealedTool& one) { return session_binding(one.session); });
  if (!resealed) return std::unexpected(resealed.error());
  for (const ResealedTool& one : *resealed) {
    auto done =
        connection.query("UPDATE tool_sessions SET secrets = ? WHERE id = ?").bind(Blob{one.sealed}, one.session).run();
    if (!done) return std::unexpected(std::move(done.error()));
  }
  return resealed->size();
}

Result<std::size_t> reseal_tools(Connection& connection, const Sealer& sealer) {
  auto query = connection.query("SELECT session, name, secrets FROM session_tools WHERE secrets IS NOT NULL");
  const auto resealed =
      seal_anew(query, sealer, [](const ResealedTool& one) { return tool_binding(one.session, one.name); });
  if (!resealed) return std::unexpected(resealed.error());
  for (const ResealedTool& one : *resealed) {
    auto done = connection.query("UPDATE session_tools SET secrets = ? WHERE session = ? AND name = ?")
                    .bind(Blob{one.sealed}, one.session, one.name)
                    .run();
    if (!done) return std::unexpected(std::move(done.error()));
  }
  return resealed->size();
}

}  // namespace

Result<> write_session(Connection& connection, const Sealer& sealer, const PutToolSession& put, std::int64_t version) {
  const ToolSessionRecord& record = put.record;
  const std::string sealed = sealed_or_empty(sealer, record.secrets, session_binding(record.id));
  if (auto hashes = write_hashes(connection, sealer, session_owner(record.id), put.hashes); !hashes) return hashes;
  return connection
      .query(
          "INSERT INTO tool_sessions (id, user_id, secrets, context, catalog, created_at, last_used_at, version)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET user_id = excluded.user_id,"
          " secrets = excluded.secrets, context = excluded.context, catalog = excluded.catalog,"
          " created_at = excluded.created_at, last_used_at = excluded.last_used_at, version = excluded.version")
      .bind(record.id, record.user_id, Blob{sealed}, record.context, record.catalog, microseconds(record.created_at),
            microseconds(record.last_used_at), version)
      .run();
}

Result<> write_session(Connection& connection, const Sealer& /*sealer*/, const RemoveToolSession& remove,
                       std::int64_t /*version*/) {
  if (auto hashes = remove_hashes(connection, session_owner(remove.id)); !hashes) return hashes;
  auto tools = connection.query("DELETE FROM session_tools WHERE session = ?").bind(remove.id).run();
  if (!tools) return tools;
  return connection.query("DELETE FROM tool_sessions WHERE id = ?").bind(remove.id).run();
}

Result<> write_session(Connection& connection, const Sealer& /*sealer*/, const TouchToolSession& touch,
                       std::int64_t /*version*/) {
  return connection.query("UPDATE tool_sessions SET last_used_at = ? WHERE id = ? AND last_used_at < ?")
      .bind(microseconds(touch.last_used_at), touch.id, microseconds(touch.last_used_at))
      .run();
}

Result<> write_session(Connection& connection, const Sealer& sealer, const PutSessionTool& put, std::int64_t version) {
  const SessionToolRecord& record = put.record;
  const std::string sealed = sealed_or_empty(sealer, record.secrets, tool_binding(record.session, record.name));
  return connection
      .query(
          "INSERT INTO session_tools (session, name, definition, secrets, version) VALUES (?, ?, ?, ?, ?)"
          " ON CONFLICT (session, name) DO UPDATE SET definition = excluded.definition, secrets = excluded.secrets,"
          " version = excluded.version")
      .bind(record.session, record.name, record.definition, Blob{sealed}, version)
      .run();
}

Result<> write_session(Connection& connection, const Sealer& /*sealer*/, const RemoveSessionTool& remove,
                       std::int64_t /*version*/) {
  return connection.query("DELETE FROM session_tools WHERE session = ? AND name = ?")
      .bind(remove.session, remove.name)
      .run();
}

Result<std::vector<ToolSessionRecord>> read_tool_sessions(Connection& connection, const Sealer& sealer,
                                                          const std::optional<std::string>& id) {
  std::vector<ToolSessionRecord> records;
  auto row =
      connection.query(fmt::format("SELECT id, user_id, secrets, context, catalog, created_at, last_used_at, version "
                                   "FROM tool_sessions{} ORDER BY id",
                                   id ? " WHERE id = ?" : ""));
  if (id) row.bind(*id);
  for (;;) {
    const auto more = row.step();
    if (!more) return std::unexpected(more.error());
    if (!*more) return records;
    ToolSessionRecord& record = records.emplace_back(ToolSessionRecord{.id = row.text(0),
                                                                       .user_id = row.text(1),
                                                                       .secrets = {},
                                                                       .context = row.text(3),
                                                                       .catalog = row.text(4),
                                                                       .created_at = time_of(row.integer(5)),
                                                                       .last_used_at = time_of(row.integer(6)),
                                                                       .secrets_fault = {},
                                                                       .stored = {row.number(7)}});
    open_secrets(record, row, 2, sealer, session_binding(record.id));
  }
}

Result<std::vector<SessionToolRecord>> read_session_tools(Connection& connection, const Sealer& sealer,
                                                          const std::optional<std::string>& session) {
  std::vector<SessionToolRecord> records;
  auto row = connection.query(
      fmt::format("SELECT session, name, definition, secrets, version FROM session_tools{} ORDER BY session, name",
                  session ? " WHERE session = ?" : ""));
  if (session) row.bind(*session);
  for (;;) {
    const auto more = row.step();
    if (!more) return std::unexpected(more.error());
    if (!*more) return records;
    SessionToolRecord& record = records.emplace_back(SessionToolRecord{.session = row.text(0),
                                                                       .name = row.text(1),
                                                                       .definition = row.text(2),
                                                                       .secrets = {},
                                                                       .secrets_fault = {},
                                                                       .stored = {row.number(4)}});
    open_secrets(record, row, 3, sealer, tool_binding(record.session, record.name));
  }
}

Result<std::size_t> reseal_sessions(Connection& connection, const Sealer& sealer) {
  const auto sessions = reseal_tool_sessions(connection, sealer);
  if (!sessions) return sessions;
  const auto tools = reseal_tools(connection, sealer);
  if (!tools) return tools;
  return *sessions + *tools;
}

}  // namespace proteus::store::sql
