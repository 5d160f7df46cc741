#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/batch_thread.hpp"
#include "store/sealer.hpp"
#include "store/sql/sql_store.hpp"
#include "store/sqlite/group_commit.hpp"
#include "store/sqlite/sqlite_connection.hpp"

namespace proteus::store {

struct SqliteOptions {
  std::filesystem::path file;
  Retention retention;
  BacklogLimits backlog;
  // How long a write waits for another program that has the database locked.
  std::chrono::milliseconds busy_timeout{5000};
  // How large the file may grow, in pages of 4 KiB; 0 for as large as SQLite allows. Beyond it is as if the disk were
  // full.
  std::uint32_t max_pages = 0;
};

// A store in one SQLite file, in WAL mode and with a sync per commit: what was acknowledged is on disk. One thread
// writes (store/sqlite/group_commit.hpp) and one reads, so that reads go on while a write waits for the disk. Secrets
// are sealed before they reach SQLite. Destroying it finishes what was posted, and drops whoever still waits elsewhere.
class SqliteStore final : public sql::SqlStore {
 public:
  // Creates or migrates the file; mode 0600 where it is created. Blocks: for the start of the process.
  static Result<std::unique_ptr<SqliteStore>> open(SqliteOptions options, Sealer sealer);

  GroupCommit::Counts counts() const { return writer_.counts(); }

 private:
  SqliteStore(const SqliteOptions& options, Sealer sealer, SqliteConnection writer, SqliteConnection reader);

  Posted post_read(sql::Operation operation) override { return reader_.post(std::move(operation), 0); }
  Posted post_write(sql::Operation operation, std::size_t bytes) override {
    return writer_.post(std::move(operation), bytes);
  }

  SqliteConnection read_connection_;
  GroupCommit writer_;
  BatchThread<sql::Operation> reader_;  // last: it uses the others
};

}  // namespace proteus::store
