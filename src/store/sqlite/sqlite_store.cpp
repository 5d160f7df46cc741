#include "store/sqlite/sqlite_store.hpp"

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "store/private_file.hpp"
#include "store/sql/rows.hpp"
#include "store/sqlite/sqlite_migrations.hpp"

namespace proteus::store {
namespace {

Result<SqliteConnection> open_writer(const SqliteOptions& options) {
  auto connection = SqliteConnection::open(options.file, SqliteAccess::read_write, options.busy_timeout);
  if (!connection) return connection;
  // Limits the size that the WAL file keeps after it once had to grow.
  std::string pragmas = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864";
  if (options.max_pages > 0) pragmas += fmt::format("; PRAGMA max_page_count = {}", options.max_pages);
  if (auto done = connection->execute(pragmas); !done) return std::unexpected(std::move(done.error()));
  return connection;
}

Result<SqliteConnection> open_reader(const SqliteOptions& options) {
  auto connection = SqliteConnection::open(options.file, SqliteAccess::read_write, options.busy_timeout);
  if (!connection) return connection;
  // Readers of a WAL write their position to shared memory, so the connection cannot be read-only. Its statements are.
  if (auto done = connection->execute("PRAGMA query_only = ON"); !done) return std::unexpected(std::move(done.error()));
  return connection;
}

Result<> guarded(const sql::Operation& operation, SqliteConnection& connection) {
  try {
    return operation.apply(connection);
  } catch (const std::exception& thrown) {
    return std::unexpected(proteus::errors::internal(std::string("a read failed: ") + thrown.what()));
  }
}

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(SqliteOptions options, Sealer sealer) {
  // SQLite gives the WAL and the shared memory file the mode of the database file.
  if (auto created = create_private(options.file); !created) return std::unexpected(std::move(created.error()));
  auto writer = open_writer(options);
  if (!writer) return std::unexpected(std::move(writer.error()));
  if (auto migrated = migrate(*writer); !migrated) return std::unexpected(std::move(migrated.error()));
  if (auto checked = sql::check_seal(*writer, sealer); !checked) return std::unexpected(std::move(checked.error()));
  auto reader = open_reader(options);
  if (!reader) return std::unexpected(std::move(reader.error()));
  return std::unique_ptr<SqliteStore>(
      new SqliteStore(options, std::move(sealer), std::move(*writer), std::move(*reader)));
}

SqliteStore::SqliteStore(const SqliteOptions& options, Sealer sealer, SqliteConnection writer, SqliteConnection reader)
    : SqlStore(std::move(sealer), options.retention),
      read_connection_(std::move(reader)),
      writer_(
          std::move(writer), options.backlog,
          [this](std::optional<Health::Trouble> trouble) { note(Side::writing, std::move(trouble)); },
          [this] { feed_grew(); }),
      reader_(
          options.backlog,
          [this](std::vector<sql::Operation> reads) {
            for (const sql::Operation& read : reads) {
              auto result = guarded(read, read_connection_);
              note(Side::reading, read_connection_.take_trouble());
              read.done(std::move(result));
            }
          },
          [this] { read_connection_.rest(); }) {}

}  // namespace proteus::store
