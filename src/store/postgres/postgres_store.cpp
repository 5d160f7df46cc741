#include "store/postgres/postgres_store.hpp"

#include <algorithm>
#include <exception>

#include "store/postgres/postgres_migrations.hpp"
#include "store/sql/rows.hpp"

namespace proteus::store {

class PostgresStore::Reader {
 public:
  Reader(const PostgresOptions& options, PostgresWriter::Report report)
      : report_(std::move(report)),
        connection_(options),
        thread_(options.backlog, [this](std::vector<sql::Operation> reads) {
          for (const sql::Operation& read : reads)
            run(read);
        }) {}

  Posted post(sql::Operation operation) { return thread_.post(std::move(operation), 0); }

 private:
  void run(const sql::Operation& operation) {
    auto result = read(operation);
    // A connection that was closed while it was idle is noticed only now. Reading again is harmless.
    if (!result && broke_) result = read(operation);
    report_(connection_.take_trouble());
    operation.done(std::move(result));
  }

  Result<> read(const sql::Operation& operation) {
    const auto connection = connection_.get();
    broke_ = false;
    if (!connection) return std::unexpected(connection.error());
    try {
      auto result = operation.apply(**connection);
      broke_ = !(*connection)->is_usable();
      return result;
    } catch (const std::exception& thrown) {
      return std::unexpected(proteus::errors::internal(std::string("a read failed: ") + thrown.what()));
    }
  }

  const PostgresWriter::Report report_;
  Reconnection connection_;
  bool broke_ = false;
  BatchThread<sql::Operation> thread_;  // last: uses the other members
};

Result<std::unique_ptr<PostgresStore>> PostgresStore::open(PostgresOptions options, Sealer sealer) {
  auto owned = std::make_unique<const PostgresOptions>(std::move(options));
  auto connection = PostgresConnection::open(*owned);
  if (!connection) return std::unexpected(std::move(connection.error()));
  auto migrated = migrate(**connection, postgres_steps(), [&] { return sql::check_seal(**connection, sealer); });
  if (!migrated) return std::unexpected(std::move(migrated.error()));
  return std::unique_ptr<PostgresStore>(new PostgresStore(std::move(owned), std::move(sealer), std::move(*connection)));
}

PostgresStore::PostgresStore(std::unique_ptr<const PostgresOptions> options, Sealer sealer,
                             std::unique_ptr<PostgresConnection> connection)
    : SqlStore(std::move(sealer), options->retention),
      options_(std::move(options)),
      writer_(*options_, std::move(connection),
              [this](std::optional<Health::Trouble> trouble) { note(Side::writing, std::move(trouble)); }),
      listener_(*options_, [this] { feed_grew(); }) {
  for (std::size_t i = 0; i < std::max<std::size_t>(options_->readers, 1); ++i) {
    readers_.push_back(std::make_unique<Reader>(
        *options_, [this](std::optional<Health::Trouble> trouble) { note(Side::reading, std::move(trouble)); }));
  }
}

PostgresStore::~PostgresStore() = default;

Posted PostgresStore::post_read(sql::Operation operation) {
  return readers_[next_reader_++ % readers_.size()]->post(std::move(operation));
}

}  // namespace proteus::store
