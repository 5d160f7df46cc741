#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/tasks/batch_thread.hpp"
#include "store/sealer.hpp"
#include "store/sql/sql_store.hpp"
#include "store/sqlite/group_commit.hpp"
#include "store/sqlite/sqlite_connection.hpp"

namespace proteus::store {

struct SqliteOptions {
  std::filesystem::path file;
  Retention retention;
  BacklogLimits backlog;
  // How long a write waits while another program has the database locked.
  std::chrono::milliseconds busy_timeout{5000};
  // Maximum size of the file, in pages of 4 KiB; 0 for SQLite's own maximum. Beyond it, the store behaves as if the
  // disk were full.
  std::uint32_t max_pages = 0;
};

// A store in one SQLite file, in WAL mode and with one sync per commit: what was acknowledged is on disk. One thread
// writes (store/sqlite/group_commit.hpp) and one reads, so that reads continue while a write waits for the disk.
// Secrets are sealed before they reach SQLite. The destructor finishes what was posted.
class SqliteStore final : public sql::SqlStore {
 public:
  // Creates the file with mode 0600, or migrates it. Blocks: call it at start-up.
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
  BatchThread<sql::Operation> reader_;  // last: uses the other members
};

}  // namespace proteus::store
