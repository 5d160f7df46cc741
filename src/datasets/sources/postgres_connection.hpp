#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <libpq-fe.h>
#include <proteus/error.hpp>

#include "base/secrets/secret.hpp"
#include "datasets/sources/source.hpp"

namespace proteus::datasets {

// The complete answer to a statement.
class PostgresResult {
 public:
  explicit PostgresResult(PGresult* result) : result_(result) {}

  int rows() const { return PQntuples(result_.get()); }
  bool is_null(int row, int column) const { return PQgetisnull(result_.get(), row, column) != 0; }
  std::string_view text(int row, int column) const {
    return {PQgetvalue(result_.get(), row, column), static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
  }
  std::string string(int row, int column) const { return std::string(text(row, column)); }
  bool flag(int row, int column) const { return text(row, column) == "t"; }
  PGresult* get() const { return result_.get(); }

 private:
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  std::unique_ptr<PGresult, Clear> result_;
};

// A session with a PostgreSQL server. If patience ends while it waits, the session is closed, so that nothing here
// waits longer, whatever the server does. A statement that does not fit the tables makes the session unusable, too,
// because what it knows about them is out of date. For one thread at a time.
class PostgresConnection {
 public:
  static Result<PostgresConnection> open(const Secret& url, const Patience& patience);

  // Runs one statement with text parameters.
  Result<PostgresResult> ask(const std::string& sql, std::span<const std::string> parameters, const Patience& patience);
  // Prepares a statement under a name.
  Result<> prepare(const std::string& name, const std::string& sql, const Patience& patience);
  Result<PostgresResult> ask_prepared(const std::string& name, std::span<const std::string> parameters,
                                      const Patience& patience);

  // Returns an identifier as statements need it, quoted.
  Result<std::string> quote(std::string_view identifier) const;
  bool is_usable() const { return usable_ && PQstatus(connection_.get()) == CONNECTION_OK; }

 private:
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  explicit PostgresConnection(PGconn* connection) : connection_(connection) {}

  Result<> connect(const Patience& patience);
  Result<PostgresResult> receive(const Patience& patience);
  Error lost();
  Error give_up(const Patience& patience);

  std::unique_ptr<PGconn, Finish> connection_;
  bool usable_ = true;
};

}  // namespace proteus::datasets
