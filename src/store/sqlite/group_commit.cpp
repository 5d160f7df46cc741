#include "store/sqlite/group_commit.hpp"

#include <exception>
#include <utility>

#include "store/sqlite/sqlite_transaction.hpp"

namespace proteus::store {

GroupCommit::GroupCommit(SqliteConnection connection, BacklogLimits limits, Report report, Announce announce)
    : connection_(std::move(connection)),
      report_(std::move(report)),
      announce_(std::move(announce)),
      thread_(
          limits, [this](std::vector<Operation> group) { run(std::move(group)); }, [this] { connection_.rest(); }) {}

void GroupCommit::run(std::vector<Operation> group) {
  connection_.take_trouble();
  const auto results = commit(group);
  report_(connection_.take_trouble());
  bool announced = false;
  for (std::size_t i = 0; i < group.size(); ++i) {
    announced = announced || (group[i].is_announced && results[i]);
    group[i].done(results[i]);
  }
  if (announced) announce_();
}

std::vector<Result<>> GroupCommit::commit(std::span<const Operation> group) {
  auto together = commit_together(group);
  if (together) return std::move(*together);
  std::vector<Result<>> results;
  if (group.size() == 1) {
    results.emplace_back(std::unexpected(std::move(together.error())));
    return results;
  }
  connection_.take_trouble();
  for (const Operation& operation : group)
    results.push_back(commit(std::span(&operation, 1)).front());
  return results;
}

// Returns one result for each operation, or an error if the transaction began but failed as a whole.
Result<std::vector<Result<>>> GroupCommit::commit_together(std::span<const Operation> group) {
  SqliteTransaction transaction(connection_);
  if (auto begun = transaction.begin(); !begun) return std::vector<Result<>>(group.size(), begun);
  std::vector<Result<>> results;
  std::uint64_t succeeded = 0;
  for (const Operation& operation : group) {
    results.push_back(apply(operation));
    if (results.back()) ++succeeded;
    // Some errors make SQLite roll back the whole transaction.
    if (!connection_.in_transaction()) return std::unexpected(results.back().error());
  }
  if (auto committed = transaction.commit(); !committed) return std::unexpected(std::move(committed.error()));
  operations_ += succeeded;
  if (succeeded > 0) ++commits_;
  return results;
}

Result<> GroupCommit::apply(const Operation& operation) {
  SqliteSavepoint savepoint(connection_);
  if (auto begun = savepoint.begin(); !begun) return begun;
  try {
    if (operation.check) {
      if (auto checked = operation.check(connection_); !checked) return checked;
    }
    if (auto applied = operation.apply(connection_); !applied) return applied;
  } catch (const std::exception& thrown) {
    return std::unexpected(proteus::errors::internal(std::string("a write failed: ") + thrown.what()));
  }
  return savepoint.release();
}

}  // namespace proteus::store
