#pragma once

#include <cstdint>
#include <string_view>

#include <proteus/error.hpp>

#include "store/sql/connection.hpp"
#include "store/sqlite/sqlite_connection.hpp"

struct sqlite3_stmt;

namespace proteus::store {

// A statement of a SqliteConnection. The destructor resets it for its next use.
class SqliteStatement final : public sql::Statement {
 public:
  SqliteStatement(SqliteConnection& connection, sqlite3_stmt* statement, int code)
      : connection_(connection), statement_(statement), code_(code) {}
  ~SqliteStatement() override;
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  void bind(std::int64_t value) override;
  void bind(std::string_view text) override;
  void bind(sql::Blob blob) override;
  Result<bool> step() override;
  std::int64_t integer(int column) const override;
  std::string_view view(int column) const override;
  bool is_null(int column) const override;

 private:
  SqliteConnection& connection_;
  sqlite3_stmt* statement_;
  int code_;
  int bound_ = 0;
};

}  // namespace proteus::store
