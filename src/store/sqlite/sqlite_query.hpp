#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "store/sqlite/sqlite_connection.hpp"

struct sqlite3_stmt;

namespace proteus::store {

// Bytes that are no text.
struct Blob {
  std::string_view bytes;
};

// One use of a prepared statement, which it resets at its end. What is bound must live as long as this. A fault of the
// preparation or of a binding shows at the first step.
class SqliteQuery {
 public:
  SqliteQuery(SqliteConnection& connection, sqlite3_stmt* statement, int code)
      : connection_(&connection), statement_(statement), code_(code) {}
  ~SqliteQuery();
  SqliteQuery(const SqliteQuery&) = delete;
  SqliteQuery& operator=(const SqliteQuery&) = delete;

  // The parameters, in their order.
  template <class... Values>
  SqliteQuery& bind(const Values&... values) {
    (bind_next(values), ...);
    return *this;
  }

  // Whether there is another row.
  Result<bool> step();
  // For statements that have no rows of interest.
  Result<> run();

  std::int64_t integer(int column) const;
  std::string text(int column) const { return std::string(view(column)); }
  // Until the next step.
  std::string_view view(int column) const;
  bool is_null(int column) const;

 private:
  void bind_next(std::int64_t value);
  void bind_next(std::string_view text);
  void bind_next(Blob blob);  // null where it is empty

  SqliteConnection* connection_;
  sqlite3_stmt* statement_;
  int code_;
  int bound_ = 0;
};

}  // namespace proteus::store
