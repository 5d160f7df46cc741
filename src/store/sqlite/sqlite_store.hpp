#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>

#include "base/batch_thread.hpp"
#include "store/sealer.hpp"
#include "store/sqlite/group_commit.hpp"
#include "store/sqlite/sqlite_connection.hpp"
#include "store/store.hpp"

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
// writes (store/group_commit.hpp) and one reads, so that reads go on while a write waits for the disk. Secrets are
// sealed before they reach SQLite. Destroying it finishes what was posted, and drops whoever still waits elsewhere.
class SqliteStore final : public Store {
 public:
  // Creates or migrates the file; mode 0600 where it is created. Blocks: for the start of the process.
  static Result<std::unique_ptr<SqliteStore>> open(SqliteOptions options, Sealer sealer);

  Task<Result<Written>> write(Writes writes) override;
  Task<Result<std::vector<UpstreamRecord>>> upstreams() override;
  Task<Result<std::vector<SnapshotRecord>>> snapshots() override;
  Task<Result<std::vector<SnapshotRecord>>> snapshots_of(std::string upstream) override;
  Task<Result<ChangePage>> changes(std::uint64_t since, std::size_t limit) override;
  Task<Result<std::vector<AuditRecord>>> audits(std::size_t limit, std::optional<std::uint64_t> before) override;
  Task<Result<std::optional<std::string>>> setting(std::string key) override;
  Task<Result<std::vector<PinRecord>>> pins_of(std::string upstream) override;
  Task<Result<std::vector<ToolSessionRecord>>> tool_sessions() override;
  Task<Result<std::vector<SessionToolRecord>>> session_tools() override;
  Task<Result<std::vector<TokenRecord>>> tokens() override;
  Task<Result<std::vector<SealedRecord>>> sealed(std::string kind) override;
  Task<Result<std::size_t>> reseal() override;
  Health health() const override;

  GroupCommit::Counts counts() const { return writer_.counts(); }

 private:
  using Read = std::function<void(SqliteConnection&)>;
  enum class Side : std::uint8_t { writing, reading };

  SqliteStore(SqliteOptions options, Sealer sealer, SqliteConnection writer, SqliteConnection reader);

  template <class T>
  Task<Result<T>> in_reader(std::function<Result<T>(SqliteConnection&)> read);
  template <class T>
  Task<Result<T>> in_writer(std::function<Result<T>(SqliteConnection&)> apply, std::size_t bytes);
  void note(Side side, std::optional<Health::Trouble> trouble);

  const SqliteOptions options_;
  const Sealer sealer_;
  mutable std::mutex mutex_;
  Health health_;
  SqliteConnection read_connection_;
  GroupCommit writer_;
  BatchThread<Read> reader_;  // last: it uses the others
};

}  // namespace proteus::store
