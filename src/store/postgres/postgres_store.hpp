#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "base/tasks/batch_thread.hpp"
#include "store/postgres/feed_listener.hpp"
#include "store/postgres/postgres_options.hpp"
#include "store/postgres/postgres_writer.hpp"
#include "store/sql/sql_store.hpp"

namespace proteus::store {

// A store in PostgreSQL that several processes share. Acknowledged writes are committed there. Threads of the store
// wait for the server: one writes (postgres_writer.hpp), some read, one listens. While the server is away, work fails
// at once with an error of kind `exhausted`; connections are reopened automatically. The destructor finishes what was
// posted.
class PostgresStore final : public sql::SqlStore {
 public:
  // Creates or migrates the tables in the schema `proteus`. Blocks: call it at start-up.
  static Result<std::unique_ptr<PostgresStore>> open(PostgresOptions options, Sealer sealer);

  ~PostgresStore() override;
  PostgresStore(const PostgresStore&) = delete;
  PostgresStore& operator=(const PostgresStore&) = delete;

  PostgresWriter::Counts counts() const { return writer_.counts(); }

 private:
  // A thread with its own connection.
  class Reader;

  PostgresStore(std::unique_ptr<const PostgresOptions> options, Sealer sealer,
                std::unique_ptr<PostgresConnection> connection);

  Posted post_read(sql::Operation operation) override;
  Posted post_write(sql::Operation operation, std::size_t bytes) override {
    return writer_.post(std::move(operation), bytes);
  }

  const std::unique_ptr<const PostgresOptions> options_;
  PostgresWriter writer_;
  std::vector<std::unique_ptr<Reader>> readers_;
  std::atomic<std::size_t> next_reader_ = 0;
  FeedListener listener_;  // last: uses the other members
};

}  // namespace proteus::store
