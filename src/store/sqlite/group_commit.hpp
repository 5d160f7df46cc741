#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <proteus/error.hpp>

#include "base/batch_thread.hpp"
#include "store/sql/operation.hpp"
#include "store/sqlite/sqlite_connection.hpp"

namespace proteus::store {

// The one writer of a database. What is posted while a transaction runs is done together in the next one, so that many
// share the wait for the disk. Each is a savepoint of its own: one that fails leaves the others as they are.
class GroupCommit {
 public:
  using Operation = sql::Operation;
  // After each transaction, what troubled it, if anything.
  using Report = std::function<void(std::optional<Health::Trouble>)>;
  // After one that others shall hear of.
  using Announce = std::function<void()>;

  struct Counts {
    std::uint64_t operations = 0;  // that succeeded
    std::uint64_t commits = 0;
  };

  GroupCommit(SqliteConnection connection, BacklogLimits limits, Report report, Announce announce);

  // Any thread. Where the answer is not `yes`, the operation is left as it is.
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
  BatchThread<Operation> thread_;  // last: it uses the others
};

}  // namespace proteus::store
