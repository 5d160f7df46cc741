#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <proteus/error.hpp>

#include "store/records.hpp"
#include "store/sealer.hpp"
#include "store/sql/connection.hpp"

// Tool sessions as rows. Writes run within the caller's transaction.
namespace proteus::store::sql {

Result<> write_session(Connection& connection, const Sealer& sealer, const PutToolSession& put, std::int64_t version);
Result<> write_session(Connection& connection, const Sealer& sealer, const RemoveToolSession& remove,
                       std::int64_t version);
Result<> write_session(Connection& connection, const Sealer& sealer, const TouchToolSession& touch,
                       std::int64_t version);
Result<> write_session(Connection& connection, const Sealer& sealer, const PutSessionTool& put, std::int64_t version);
Result<> write_session(Connection& connection, const Sealer& sealer, const RemoveSessionTool& remove,
                       std::int64_t version);

template <class T>
concept SessionWrite =
    std::same_as<T, PutToolSession> || std::same_as<T, RemoveToolSession> || std::same_as<T, TouchToolSession> ||
    std::same_as<T, PutSessionTool> || std::same_as<T, RemoveSessionTool>;

// Reads all sessions, or the one of this id.
Result<std::vector<ToolSessionRecord>> read_tool_sessions(Connection& connection, const Sealer& sealer,
                                                          const std::optional<std::string>& id);
// Reads all tools, or those of this session.
Result<std::vector<SessionToolRecord>> read_session_tools(Connection& connection, const Sealer& sealer,
                                                          const std::optional<std::string>& session);

// Returns how many records were sealed again.
Result<std::size_t> reseal_sessions(Connection& connection, const Sealer& sealer);

}  // namespace proteus::store::sql
