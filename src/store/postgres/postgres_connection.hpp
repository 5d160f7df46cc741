#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <libpq-fe.h>
#include <proteus/error.hpp>

#include "store/postgres/postgres_options.hpp"
#include "store/sql/connection.hpp"

namespace proteus::store {

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using PostgresResult = std::unique_ptr<PGresult, ClearResult>;

// A parameter as libpq takes it, in PostgreSQL's binary format.
struct PostgresParameter {
  const char* data = nullptr;  // null for NULL
  int size = 0;
  Oid type = 0;
};

// A connection to PostgreSQL that never blocks for longer than its time limits, except while the system resolves a host
// name: when a limit has passed, the connection is closed. Statements of the records have `?` for parameters, and are
// prepared at their first use.
class PostgresConnection final : public sql::Connection {
 public:
  // Of several hosts in the URL, takes the first that is a primary.
  static Result<std::unique_ptr<PostgresConnection>> open(const PostgresOptions& options);

  sql::Query query(std::string_view sql) override;
  // Also takes several statements; they form one transaction unless they say otherwise.
  Result<> execute(const std::string& sql) override;
  Result<> begin_reading() override;
  Result<> end_reading() override;
  Result<> begin_writing() override;
  Result<> end_writing(sql::Ending ending) override;
  Result<std::int64_t> now() override;

  Result<PostgresResult> run(std::string_view sql, std::span<const PostgresParameter> parameters);

  // Returns false once the connection broke, or was closed because a time limit had passed or the server had refused
  // to write.
  bool is_usable() const { return connection_ != nullptr && PQstatus(connection_.get()) == CONNECTION_OK; }
  bool is_in_failed_transaction() const {
    return is_usable() && PQtransactionStatus(connection_.get()) == PQTRANS_INERROR;
  }

  // Waits until a notification arrives, `time` has passed or `stop` becomes readable. Returns whether a notification
  // arrived.
  Result<bool> wait_for_notification(int stop, std::chrono::milliseconds time);

 private:
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  using Clock = std::chrono::steady_clock;

  PostgresConnection(PGconn* connection, std::string name, const PostgresOptions& options);

  // Takes over `started`.
  static Result<std::unique_ptr<PostgresConnection>> open(PGconn* started, const PostgresOptions& options,
                                                          Clock::time_point until);
  Result<> connect(Clock::time_point until);
  Result<> set_up(const PostgresOptions& options);
  Result<std::string> prepared(std::string_view sql, std::span<const PostgresParameter> parameters);
  // Waits for the results of what was sent. Returns the last result, or an error if any statement failed.
  Result<PostgresResult> receive();
  Error lost(std::string_view cause);
  Error refused(const PGresult* result);

  std::unique_ptr<PGconn, Finish> connection_;
  const std::chrono::milliseconds patience_;
  std::map<std::string, std::string, std::less<>> prepared_;  // names of prepared statements, by SQL text
};

// Returns the fault behind a SQLSTATE; nothing if the statement itself was wrong.
std::optional<Fault> fault_of(std::string_view sql_state);

}  // namespace proteus::store
