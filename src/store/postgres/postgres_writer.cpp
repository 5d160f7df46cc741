#include "store/postgres/postgres_writer.hpp"

#include <algorithm>
#include <exception>
#include <thread>

#include <fmt/format.h>

#include "base/secrets/sealing.hpp"
#include "store/errors.hpp"

namespace proteus::store {
namespace {

constexpr int kTries = 3;
constexpr std::chrono::milliseconds kShortPause{10};

std::string new_name() {
  std::string name = "'\\x";
  for (const char byte : random_bytes(16))
    name += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return name + "'";
}

Result<> guarded(const std::function<Result<>(sql::Connection&)>& work, PostgresConnection& connection) {
  try {
    return work(connection);
  } catch (const std::exception& thrown) {
    return std::unexpected(proteus::errors::internal(std::string("a write failed: ") + thrown.what()));
  }
}

}  // namespace

PostgresWriter::PostgresWriter(const PostgresOptions& options, std::unique_ptr<PostgresConnection> connection,
                               Report report)
    : options_(options),
      name_(new_name()),
      report_(std::move(report)),
      connection_(options, std::move(connection)),
      thread_(options.backlog, [this](std::vector<sql::Operation> group) { run(std::move(group)); }) {
  sweep();
}

// Work that was posted is done first.
PostgresWriter::~PostgresWriter() {
  thread_.stop();
  if (connection_.pause().count() > 0) return;
  if (auto connection = connection_.get())
    static_cast<void>((*connection)->execute(fmt::format("DELETE FROM writers WHERE name = {}", name_)));
}

// Deletes the rows of killed writers. Nobody tries for as long as a day to find out whether a commit happened.
void PostgresWriter::sweep() {
  if (auto connection = connection_.get())
    static_cast<void>((*connection)->execute("DELETE FROM writers WHERE at < clock_timestamp() - interval '1 day'"));
}

void PostgresWriter::run(std::vector<sql::Operation> group) {
  const Outcomes outcomes = commit(group);
  report_(connection_.take_trouble());
  for (std::size_t i = 0; i < group.size(); ++i)
    group[i].done(outcomes[i]);
}

PostgresWriter::Outcomes PostgresWriter::commit(Group group) {
  std::optional<Error> error;
  for (int tries = 0; tries < kTries; ++tries) {
    const auto connection = connection_.get();
    if (!connection) return Outcomes(group.size(), std::unexpected(connection.error()));
    Tried tried = try_together(**connection, group);
    error = std::move(tried.error);
    if (tried.end == End::broke_at_commit) {
      const auto committed = was_committed();
      if (!committed) return Outcomes(group.size(), std::unexpected(errors::store_unsure("the store")));
      if (*committed) tried.end = End::committed;
    }
    if (tried.end == End::committed) {
      const auto succeeded = std::ranges::count_if(tried.outcomes, [](const Result<>& one) { return one.has_value(); });
      operations_ += static_cast<std::uint64_t>(succeeded);
      if (succeeded > 0) ++commits_;
      return std::move(tried.outcomes);
    }
    if (tried.end == End::refused) return Outcomes(group.size(), std::unexpected(std::move(*error)));
    if (tried.end == End::failed) break;
  }
  if (group.size() == 1) return Outcomes(1, std::unexpected(std::move(*error)));
  // One of the operations is to blame, or the connection: runs each alone to find out.
  Outcomes outcomes;
  for (const sql::Operation& operation : group)
    outcomes.push_back(commit(Group(&operation, 1)).front());
  return outcomes;
}

Result<> PostgresWriter::begin(PostgresConnection& connection) {
  if (auto begun = connection.begin_writing(); !begun) return begun;
  return connection.execute(
      fmt::format("INSERT INTO writers (name, last) VALUES ({0}, {1})"
                  " ON CONFLICT (name) DO UPDATE SET last = {1}, at = clock_timestamp()",
                  name_, ++last_));
}

PostgresWriter::Tried PostgresWriter::failed(PostgresConnection& connection, Error error) {
  if (!connection.is_usable()) return {.end = End::broke, .outcomes = {}, .error = std::move(error)};
  static_cast<void>(connection.end_writing(sql::Ending::roll_back));
  return {.end = End::failed, .outcomes = {}, .error = std::move(error)};
}

PostgresWriter::Tried PostgresWriter::try_together(PostgresConnection& connection, Group group) {
  if (auto begun = begin(connection); !begun) {
    Tried tried = failed(connection, std::move(begun.error()));
    if (tried.end == End::failed) tried.end = End::refused;
    return tried;
  }
  Tried tried{.end = End::committed, .outcomes = {}, .error = std::nullopt};
  bool any = false;
  bool announced = false;
  for (const sql::Operation& operation : group) {
    // A failed condition has changed nothing, so the others go on.
    if (operation.check) {
      auto checked = guarded(operation.check, connection);
      if (!checked && (!connection.is_usable() || connection.is_in_failed_transaction()))
        return failed(connection, std::move(checked.error()));
      if (!checked) {
        tried.outcomes.push_back(std::move(checked));
        continue;
      }
    }
    if (auto applied = guarded(operation.apply, connection); !applied)
      return failed(connection, std::move(applied.error()));
    tried.outcomes.emplace_back();
    any = true;
    announced = announced || operation.is_announced;
  }
  if (connection.is_in_failed_transaction())
    return failed(connection, proteus::errors::internal("a write of the store went on after a fault"));
  const std::string end = !any ? "ROLLBACK" : announced ? "NOTIFY proteus_feed; COMMIT" : "COMMIT";
  auto ended = connection.execute(end);
  if (ended) return tried;
  if (connection.is_usable()) return failed(connection, std::move(ended.error()));
  tried.end = any ? End::broke_at_commit : End::broke;
  tried.error = std::move(ended.error());
  return tried;
}

// Taking the turn waits until the previous transaction has ended, one way or the other.
Result<bool> PostgresWriter::was_committed() {
  const auto until = std::chrono::steady_clock::now() + options_.resolve_timeout;
  for (;;) {
    if (const auto connection = connection_.get()) {
      if (const auto last = last_committed(**connection)) return *last == last_;
    }
    if (std::chrono::steady_clock::now() >= until) return std::unexpected(errors::store_unsure("the store"));
    std::this_thread::sleep_for(std::max(connection_.pause(), kShortPause));
  }
}

Result<std::int64_t> PostgresWriter::last_committed(PostgresConnection& connection) {
  auto turn = connection.begin_writing();
  if (!turn) return std::unexpected(std::move(failed(connection, std::move(turn.error())).error.value()));
  auto row = connection.query(fmt::format("SELECT last FROM writers WHERE name = {}", name_));
  const auto found = row.step();
  if (!found) return std::unexpected(std::move(failed(connection, found.error()).error.value()));
  static_cast<void>(connection.end_writing(sql::Ending::roll_back));
  return *found ? row.integer(0) : 0;
}

}  // namespace proteus::store
