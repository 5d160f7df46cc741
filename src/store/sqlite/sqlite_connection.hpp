#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <proteus/error.hpp>

#include "store/sql/connection.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace proteus::store {

enum class SqliteAccess : std::uint8_t { read_write, read_only };

// A connection to a database file. One thread at a time; it moves while no query of it is in use.
class SqliteConnection final : public sql::Connection {
 public:
  // The file must exist. `busy_timeout`: how long to wait for a lock of another connection.
  static Result<SqliteConnection> open(const std::filesystem::path& file, SqliteAccess access,
                                       std::chrono::milliseconds busy_timeout);

  sql::Query query(std::string_view sql) override;
  Result<> execute(const std::string& sql) override;
  Result<> begin_reading() override;
  Result<> end_reading() override;
  Result<> begin_writing() override;
  Result<> end_writing(sql::Ending ending) override;
  Result<std::int64_t> now() override;

  // Lets go of pages that are kept in memory, and of what this thread has freed: for a time in which nothing is asked.
  void rest();

  // Also false after an error that made SQLite roll back by itself.
  bool in_transaction() const;

  // What the last operation failed with; a fault is remembered as trouble.
  Error error(int code);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

  explicit SqliteConnection(std::string name) : Connection(std::move(name)) {}

  std::unique_ptr<sqlite3, Close> database_;
  std::map<std::string, Statement, std::less<>> statements_;  // finalized before the connection closes
};

// The fault behind a result code of SQLite and what the system said; none where the statement itself was wrong.
std::optional<Fault> fault_of(int sqlite_code, int system_error);

}  // namespace proteus::store
