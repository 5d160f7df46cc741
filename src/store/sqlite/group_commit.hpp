#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <proteus/error.hpp>

#include "base/tasks/batch_thread.hpp"
#include "store/sql/operation.hpp"
#include "store/sqlite/sqlite_connection.hpp"

namespace proteus::store {

// The only writer of a database. Operations that are posted while a transaction runs are committed together in the next
// one, so that they share the wait for the disk. Each has a savepoint, so that one that fails does not affect the
// others.
class GroupCommit {
 public:
  using Operation = sql::Operation;
  // Called after each group with the trouble that it met, if any.
  using Report = std::function<void(std::optional<Health::Trouble>)>;
  // Called after a group that committed an operation of interest to others (`Operation::is_announced`).
  using Announce = std::function<void()>;

  struct Counts {
    std::uint64_t operations = 0;  // only successful ones
    std::uint64_t commits = 0;
  };

  GroupCommit(SqliteConnection connection, BacklogLimits limits, Report report, Announce announce);

  // Thread-safe. Takes the operation only if the answer is `yes`.
  Posted post(Operation&& operation, std::size_t bytes) { return thread_.post(std::move(operation), bytes); }
  Counts counts() const { return {.operations = operations_, .commits = commits_}; }

 private:
  void run(std::vector<Operation> group);
  std::vector<Result<>> commit(std::span<const Operation> group);
  Result<std::vector<Result<>>> commit_together(std::span<const Operation> group);
  Result<> apply(const Operation& operation);

  SqliteConnection connection_;
  const Report report_;
  const Announce announce_;
  std::atomic<std::uint64_t> operations_ = 0;
  std::atomic<std::uint64_t> commits_ = 0;
  BatchThread<Operation> thread_;  // last: uses the other members
};

}  // namespace proteus::store
