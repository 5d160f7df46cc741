#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "store/pepper.hpp"
#include "store/postgres/postgres_store.hpp"
#include "store/testing/postgres_server.hpp"

namespace proteus::store::test {

// One server for all tests of a program that leave it intact.
inline PostgresServer& shared_server() {
  static PostgresServer server;
  return server;
}

// Stores on a fresh database.
class PostgresFixture {
 public:
  explicit PostgresFixture(PostgresServer& server = shared_server(), PostgresOptions options = {})
      : server_(server), options_(std::move(options)) {
    static int made = 0;
    database_ = fmt::format("store_{}", ++made);
    server_.query("CREATE DATABASE " + database_);
    options_.url = Secret(server_.dsn(database_));
  }

  Result<std::unique_ptr<PostgresStore>> try_open(const std::string& pepper = "pepper") const {
    return PostgresStore::open(options_, Sealer(Pepper::given(pepper).value()));
  }
  // Opens a store, as another process does.
  std::unique_ptr<PostgresStore> open() const {
    auto opened = try_open();
    if (!opened) throw std::runtime_error(opened.error().message());
    return std::move(*opened);
  }
  std::unique_ptr<PostgresConnection> connect() const {
    auto opened = PostgresConnection::open(options_);
    if (!opened) throw std::runtime_error(opened.error().message());
    return std::move(*opened);
  }

  // Runs a statement as another client of the same database.
  std::vector<std::string> query(const std::string& sql) const { return server_.query(sql, database_); }
  // Closes all connections of stores, as a server or a firewall may at any time.
  void close_connections() const {
    query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
        " AND pid <> pg_backend_pid()");
  }

  PostgresServer& server() { return server_; }
  PostgresOptions& options() { return options_; }

 private:
  PostgresServer& server_;
  PostgresOptions options_;
  std::string database_;
};

}  // namespace proteus::store::test
