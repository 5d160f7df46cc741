#include "store/sqlite/sqlite_statement.hpp"

#include <sqlite3.h>

namespace proteus::store {

SqliteStatement::~SqliteStatement() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

void SqliteStatement::bind(std::int64_t value) {
  if (code_ == SQLITE_OK) code_ = sqlite3_bind_int64(statement_, ++bound_, value);
}

void SqliteStatement::bind(std::string_view text) {
  if (code_ != SQLITE_OK) return;
  // SQLite takes a null pointer for NULL.
  const char* start = text.data() == nullptr ? "" : text.data();
  code_ = sqlite3_bind_text64(statement_, ++bound_, start, text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void SqliteStatement::bind(sql::Blob blob) {
  if (code_ != SQLITE_OK) return;
  const char* start = blob.bytes.empty() ? nullptr : blob.bytes.data();
  code_ = sqlite3_bind_blob64(statement_, ++bound_, start, blob.bytes.size(), SQLITE_STATIC);
}

Result<bool> SqliteStatement::step() {
  if (code_ == SQLITE_OK) {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    code_ = code;
  }
  return std::unexpected(connection_.error(code_));
}

std::int64_t SqliteStatement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view SqliteStatement::view(int column) const {
  const auto* start = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  const int size = sqlite3_column_bytes(statement_, column);
  return start == nullptr ? std::string_view() : std::string_view(start, static_cast<std::size_t>(size));
}

bool SqliteStatement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

}  // namespace proteus::store
