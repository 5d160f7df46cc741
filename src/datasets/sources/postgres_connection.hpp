#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <libpq-fe.h>
#include <proteus/error.hpp>

#include "base/secret.hpp"
#include "datasets/sources/source.hpp"

namespace proteus::datasets {

// What a statement answered, all of it.
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

// A session that is waited for with patience: when that is over, it is closed. Nothing here waits for longer, whatever
// the server does. It is of no more use, either, after a statement that does not fit the tables: what is known of them
// is then out of date. One thread at a time.
class PostgresConnection {
 public:
  static Result<PostgresConnection> open(const Secret& url, const Patience& patience);

  // One statement with parameters, which are texts; a null pointer is NULL.
  Result<PostgresResult> ask(const std::string& sql, std::span<const std::string> parameters, const Patience& patience);
  // The same, prepared under a name.
  Result<> prepare(const std::string& name, const std::string& sql, const Patience& patience);
  Result<PostgresResult> ask_prepared(const std::string& name, std::span<const std::string> parameters,
                                      const Patience& patience);

  // An identifier as it stands in statements.
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
