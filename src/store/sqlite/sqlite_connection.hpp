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

// A connection to a database file. For one thread at a time. May be moved only while no query of it exists.
class SqliteConnection final : public sql::Connection {
 public:
  // The file must exist. `busy_timeout` is how long to wait for the lock of another connection.
  static Result<SqliteConnection> open(const std::filesystem::path& file, SqliteAccess access,
                                       std::chrono::milliseconds busy_timeout);

  sql::Query query(std::string_view sql) override;
  Result<> execute(const std::string& sql) override;
  Result<> begin_reading() override;
  Result<> end_reading() override;
  Result<> begin_writing() override;
  Result<> end_writing(sql::Ending ending) override;
  Result<std::int64_t> now() override;

  // Releases cached pages, and memory that this thread has freed. For idle times.
  void rest();

  // Also returns false after an error that made SQLite roll back on its own.
  bool in_transaction() const;

  // Returns the error of the last operation. Notes a fault as trouble.
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

// Returns the fault behind a result code of SQLite and the system's `errno`; nothing if the statement itself was wrong.
std::optional<Fault> fault_of(int sqlite_code, int system_error);

}  // namespace proteus::store
