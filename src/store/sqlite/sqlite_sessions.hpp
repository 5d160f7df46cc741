#pragma once

#include <concepts>
#include <vector>

#include <proteus/error.hpp>

#include "store/records.hpp"
#include "store/sealer.hpp"
#include "store/sqlite/sqlite_connection.hpp"

// Tool sessions as rows. Writing happens inside a transaction of the caller's.
namespace proteus::store::sqlite {

Result<> write_session(SqliteConnection& connection, const Sealer& sealer, const PutToolSession& put);
Result<> write_session(SqliteConnection& connection, const Sealer& sealer, const RemoveToolSession& remove);
Result<> write_session(SqliteConnection& connection, const Sealer& sealer, const TouchToolSession& touch);
Result<> write_session(SqliteConnection& connection, const Sealer& sealer, const PutSessionTool& put);
Result<> write_session(SqliteConnection& connection, const Sealer& sealer, const RemoveSessionTool& remove);

template <class T>
concept SessionWrite =
    std::same_as<T, PutToolSession> || std::same_as<T, RemoveToolSession> || std::same_as<T, TouchToolSession> ||
    std::same_as<T, PutSessionTool> || std::same_as<T, RemoveSessionTool>;

Result<std::vector<ToolSessionRecord>> read_tool_sessions(SqliteConnection& connection, const Sealer& sealer);
Result<std::vector<SessionToolRecord>> read_session_tools(SqliteConnection& connection, const Sealer& sealer);

// How many records were sealed anew.
Result<std::size_t> reseal_sessions(SqliteConnection& connection, const Sealer& sealer);

}  // namespace proteus::store::sqlite
