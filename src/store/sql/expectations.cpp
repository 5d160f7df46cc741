#include "store/errors.hpp"
#include "store/sql/rows.hpp"

namespace proteus::store::sql {
namespace {

std::string_view version_query(RecordKind kind) {
  switch (kind) {
    case RecordKind::upstream: return "SELECT version FROM upstreams WHERE name = ?";
    case RecordKind::snapshot: return "SELECT version FROM snapshots WHERE upstream = ? AND kind = ?";
    case RecordKind::setting: return "SELECT version FROM settings WHERE key = ?";
    case RecordKind::pins: return "SELECT coalesce(max(version), 0) FROM pins WHERE upstream = ?";
    case RecordKind::tool_session: return "SELECT version FROM tool_sessions WHERE id = ?";
    case RecordKind::session_tool: return "SELECT version FROM session_tools WHERE session = ? AND name = ?";
    case RecordKind::token: return "SELECT version FROM tokens WHERE name = ?";
    case RecordKind::sealed: return "SELECT version FROM sealed_records WHERE kind = ? AND id = ?";
    case RecordKind::change: break;
  }
  return {};
}

bool has_part(RecordKind kind) {
  return kind == RecordKind::snapshot || kind == RecordKind::session_tool || kind == RecordKind::sealed;
}

Result<std::uint64_t> version_of(Connection& connection, const RecordKey& key) {
  const std::string_view sql = version_query(key.kind);
  if (sql.empty()) return std::unexpected(proteus::errors::invalid("entries of the change log have no versions"));
  auto row = connection.query(sql);
  row.bind(key.name);
  if (has_part(key.kind)) row.bind(key.part);
  const auto found = row.step();
  if (!found) return std::unexpected(found.error());
  return *found ? row.number(0) : 0;
}

}  // namespace

Result<> check_expected(Connection& connection, const Writes& writes) {
  for (const Write& write : writes) {
    const auto* const expect = std::get_if<Expect>(&write);
    if (expect == nullptr) continue;
    const auto version = version_of(connection, expect->key);
    if (!version) return std::unexpected(version.error());
    if (*version != expect->version)
      return std::unexpected(errors::version_conflict(expect->key, expect->version, *version));
  }
  return {};
}

}  // namespace proteus::store::sql
