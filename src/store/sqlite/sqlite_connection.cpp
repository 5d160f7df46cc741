#include "store/sqlite/sqlite_connection.hpp"

#include <cerrno>

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/memory/memory.hpp"
#include "store/errors.hpp"
#include "store/sqlite/sqlite_statement.hpp"

namespace proteus::store {

void SqliteConnection::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }
void SqliteConnection::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Result<SqliteConnection> SqliteConnection::open(const std::filesystem::path& file, SqliteAccess access,
                                                std::chrono::milliseconds busy_timeout) {
  SqliteConnection connection(file.string());
  const int flags = (access == SqliteAccess::read_write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) |
                    SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &opened, flags, nullptr);
  connection.database_.reset(opened);
  if (code != SQLITE_OK) return std::unexpected(connection.error(code));
  sqlite3_busy_timeout(opened, static_cast<int>(busy_timeout.count()));
  // A database file is input like any other: its schema may not call unsafe functions, and its pages are checked when
  // they are read.
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  if (auto checked = connection.execute("PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY"); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  return connection;
}

Result<> SqliteConnection::execute(const std::string& sql) {
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return std::unexpected(error(code));
  return {};
}

sql::Query SqliteConnection::query(std::string_view sql) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) {
    sqlite3_stmt* prepared = nullptr;
    const int code = sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
    if (code != SQLITE_OK) return sql::Query(std::make_unique<SqliteStatement>(*this, nullptr, code));
    found = statements_.emplace(std::string(sql), Statement(prepared)).first;
  }
  return sql::Query(std::make_unique<SqliteStatement>(*this, found->second.get(), SQLITE_OK));
}

void SqliteConnection::rest() {
  sqlite3_db_release_memory(database_.get());
  give_back_memory();
}

bool SqliteConnection::in_transaction() const { return sqlite3_get_autocommit(database_.get()) == 0; }

Result<> SqliteConnection::begin_reading() { return query("BEGIN").run(); }
Result<> SqliteConnection::end_reading() { return query("COMMIT").run(); }
Result<> SqliteConnection::begin_writing() { return query("BEGIN IMMEDIATE").run(); }
Result<> SqliteConnection::end_writing(sql::Ending ending) {
  return query(ending == sql::Ending::commit ? "COMMIT" : "ROLLBACK").run();
}
Result<std::int64_t> SqliteConnection::now() { return microseconds(to_time(std::chrono::system_clock::now())); }

Error SqliteConnection::error(int code) {
  if ((code & 0xff) == SQLITE_TOOBIG) {
    const int limit = sqlite3_limit(database_.get(), SQLITE_LIMIT_LENGTH, -1);
    return proteus::errors::too_large("a value for " + name(), static_cast<std::size_t>(limit));
  }
  const auto fault = fault_of(code, database_ ? sqlite3_system_errno(database_.get()) : 0);
  if (!fault) return proteus::errors::internal(fmt::format("{}: {}", name(), sqlite3_errmsg(database_.get())));
  Error error = errors::store_fault(*fault, name(), sqlite3_errstr(code));
  note(*fault, error.message());
  return error;
}

std::optional<Fault> fault_of(int sqlite_code, int system_error) {
  switch (sqlite_code & 0xff) {
    case SQLITE_FULL: return Fault::full;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return Fault::busy;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return Fault::corrupt;
    case SQLITE_READONLY: return Fault::read_only;
    case SQLITE_ERROR:
    case SQLITE_ABORT:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
    case SQLITE_SCHEMA: return std::nullopt;
    case SQLITE_IOERR:
      if (system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG) return Fault::full;
      return system_error == EROFS ? Fault::read_only : Fault::unavailable;
    default: return Fault::unavailable;
  }
}

}  // namespace proteus::store
