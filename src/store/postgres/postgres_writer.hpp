#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/tasks/batch_thread.hpp"
#include "store/postgres/reconnection.hpp"
#include "store/sql/operation.hpp"

namespace proteus::store {

// The only writer of this process. Operations that are posted while a transaction runs are committed together in the
// next one. Each transaction begins by taking the turn of all writers of the database, so that transactions are
// committed one after the other, and each sees all earlier ones.
//
// If the connection breaks before COMMIT is sent, nothing happened, and the group is retried. If it breaks later, a row
// that the transaction wrote shows whether it was committed.
class PostgresWriter {
 public:
  // Called after each group with the trouble that it met, if any.
  using Report = std::function<void(std::optional<Health::Trouble>)>;

  struct Counts {
    std::uint64_t operations = 0;  // only successful ones
    std::uint64_t commits = 0;
  };

  // `options` must outlive the writer.
  PostgresWriter(const PostgresOptions& options, std::unique_ptr<PostgresConnection> connection, Report report);
  ~PostgresWriter();
  PostgresWriter(const PostgresWriter&) = delete;
  PostgresWriter& operator=(const PostgresWriter&) = delete;

  // Thread-safe. Takes the operation only if the answer is `yes`.
  Posted post(sql::Operation&& operation, std::size_t bytes) { return thread_.post(std::move(operation), bytes); }
  Counts counts() const { return {.operations = operations_, .commits = commits_}; }

 private:
  using Group = std::span<const sql::Operation>;
  using Outcomes = std::vector<Result<>>;
  // How a transaction ended; `refused` means that it could not begin. `outcomes` count only if it was `committed`.
  enum class End : std::uint8_t { committed, refused, failed, broke, broke_at_commit };
  struct Tried {
    End end = End::failed;
    Outcomes outcomes;
    std::optional<Error> error;
  };

  void run(std::vector<sql::Operation> group);
  Outcomes commit(Group group);
  Tried try_together(PostgresConnection& connection, Group group);
  Tried failed(PostgresConnection& connection, Error error);
  Result<> begin(PostgresConnection& connection);
  // Returns whether the last transaction was committed.
  Result<bool> was_committed();
  Result<std::int64_t> last_committed(PostgresConnection& connection);
  void sweep();

  const PostgresOptions& options_;
  const std::string name_;  // of this writer, as an SQL literal
  const Report report_;
  Reconnection connection_;
  std::int64_t last_ = 0;  // number of the last transaction
  std::atomic<std::uint64_t> operations_ = 0;
  std::atomic<std::uint64_t> commits_ = 0;
  BatchThread<sql::Operation> thread_;  // last: uses the other members
};

}  // namespace proteus::store
