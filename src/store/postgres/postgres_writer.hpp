#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/batch_thread.hpp"
#include "store/postgres/reconnection.hpp"
#include "store/sql/operation.hpp"

namespace proteus::store {

// The one writer of this process. What is posted while a transaction runs is done together in the next one. The
// transaction takes the turn of all writers of the database when it begins, so that transactions are committed one
// after the other, and each sees all before it.
//
// Where the connection breaks before the commit is sent, nothing happened, and the group is done again. Where it breaks
// after, a row that the transaction wrote tells whether it was committed.
class PostgresWriter {
 public:
  // After each group, what troubled it, if anything.
  using Report = std::function<void(std::optional<Health::Trouble>)>;

  struct Counts {
    std::uint64_t operations = 0;  // that succeeded
    std::uint64_t commits = 0;
  };

  // The options outlive it.
  PostgresWriter(const PostgresOptions& options, std::unique_ptr<PostgresConnection> connection, Report report);
  ~PostgresWriter();
  PostgresWriter(const PostgresWriter&) = delete;
  PostgresWriter& operator=(const PostgresWriter&) = delete;

  // Any thread. Where the answer is not `yes`, the operation is left as it is.
  Posted post(sql::Operation&& operation, std::size_t bytes) { return thread_.post(std::move(operation), bytes); }
  Counts counts() const { return {.operations = operations_, .commits = commits_}; }

 private:
  using Group = std::span<const sql::Operation>;
  using Outcomes = std::vector<Result<>>;
  // How a transaction ended; the outcomes count where it was committed.
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
  // Whether the last transaction was committed.
  Result<bool> was_committed();
  Result<std::int64_t> last_committed(PostgresConnection& connection);
  void sweep();

  const PostgresOptions& options_;
  const std::string name_;  // of this writer, as SQL has it
  const Report report_;
  Reconnection connection_;
  std::int64_t last_ = 0;  // the number of the last transaction
  std::atomic<std::uint64_t> operations_ = 0;
  std::atomic<std::uint64_t> commits_ = 0;
  BatchThread<sql::Operation> thread_;  // last: it uses the others
};

}  // namespace proteus::store
