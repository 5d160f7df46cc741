#include "store/sqlite/sqlite_store.hpp"

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "base/delivery.hpp"
#include "base/log.hpp"
#include "store/errors.hpp"
#include "store/private_file.hpp"
#include "store/sqlite/sqlite_migrations.hpp"
#include "store/sqlite/sqlite_pins.hpp"
#include "store/sqlite/sqlite_query.hpp"
#include "store/sqlite/sqlite_records.hpp"
#include "store/sqlite/sqlite_sealed.hpp"
#include "store/sqlite/sqlite_sessions.hpp"
#include "store/sqlite/sqlite_tokens.hpp"

namespace proteus::store {
namespace {

Error not_posted(Posted posted) { return posted == Posted::full ? errors::store_overloaded() : errors::store_closed(); }

Result<SqliteConnection> open_writer(const SqliteOptions& options) {
  auto connection = SqliteConnection::open(options.file, SqliteAccess::read_write, options.busy_timeout);
  if (!connection) return connection;
  // The journal may not stay as large as it once had to be.
  std::string pragmas = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864";
  if (options.max_pages > 0) pragmas += fmt::format("; PRAGMA max_page_count = {}", options.max_pages);
  if (auto done = connection->execute(pragmas); !done) return std::unexpected(std::move(done.error()));
  return connection;
}

Result<SqliteConnection> open_reader(const SqliteOptions& options) {
  auto connection = SqliteConnection::open(options.file, SqliteAccess::read_write, options.busy_timeout);
  if (!connection) return connection;
  // Readers of a WAL keep their place in shared memory, so the connection cannot be read-only; its statements can.
  if (auto done = connection->execute("PRAGMA query_only = ON"); !done) return std::unexpected(std::move(done.error()));
  return connection;
}

template <class T>
Result<T> guarded(const std::function<Result<T>(SqliteConnection&)>& read, SqliteConnection& connection) {
  try {
    return read(connection);
  } catch (const std::exception& thrown) {
    return std::unexpected(proteus::errors::internal(std::string("a read failed: ") + thrown.what()));
  }
}

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(SqliteOptions options, Sealer sealer) {
  // SQLite gives the files beside the database the mode of the database.
  if (auto created = create_private(options.file); !created) return std::unexpected(std::move(created.error()));
  auto writer = open_writer(options);
  if (!writer) return std::unexpected(std::move(writer.error()));
  if (auto migrated = migrate(*writer); !migrated) return std::unexpected(std::move(migrated.error()));
  if (auto checked = sqlite::check_seal(*writer, sealer); !checked) return std::unexpected(std::move(checked.error()));
  auto reader = open_reader(options);
  if (!reader) return std::unexpected(std::move(reader.error()));
  return std::unique_ptr<SqliteStore>(
      new SqliteStore(std::move(options), std::move(sealer), std::move(*writer), std::move(*reader)));
}

SqliteStore::SqliteStore(SqliteOptions options, Sealer sealer, SqliteConnection writer, SqliteConnection reader)
    : options_(std::move(options)),
      sealer_(std::move(sealer)),
      read_connection_(std::move(reader)),
      writer_(std::move(writer), options_.backlog,
              [this](std::optional<Health::Trouble> trouble) { note(Side::writing, std::move(trouble)); }),
      reader_(
          options_.backlog,
          [this](std::vector<Read> reads) {
            for (const Read& read : reads)
              read(read_connection_);
          },
          [this] { read_connection_.rest(); }) {}

template <class T>
Task<Result<T>> SqliteStore::in_reader(std::function<Result<T>(SqliteConnection&)> read) {
  auto delivery = std::make_shared<Delivery<Result<T>>>();
  const auto posted = reader_.post(
      [this, delivery, read = std::move(read)](SqliteConnection& connection) {
        auto result = guarded(read, connection);
        note(Side::reading, connection.take_trouble());
        delivery->deliver(std::move(result));
      },
      0);
  if (posted != Posted::yes) co_return std::unexpected(not_posted(posted));
  co_return co_await Delivery<Result<T>>::receive(delivery);
}

template <class T>
Task<Result<T>> SqliteStore::in_writer(std::function<Result<T>(SqliteConnection&)> apply, std::size_t bytes) {
  struct Outcome {
    T value{};
    Delivery<Result<T>> delivery;
  };
  auto outcome = std::make_shared<Outcome>();
  GroupCommit::Operation operation{
      .apply = [outcome, apply = std::move(apply)](SqliteConnection& connection) -> Result<> {
        auto applied = apply(connection);
        if (!applied) return std::unexpected(std::move(applied.error()));
        outcome->value = std::move(*applied);
        return {};
      },
      .done =
          [outcome](Result<> done) {
            if (done) {
              outcome->delivery.deliver(std::move(outcome->value));
            } else {
              outcome->delivery.deliver(std::unexpected(std::move(done.error())));
            }
          }};
  const auto posted = writer_.post(std::move(operation), bytes);
  if (posted != Posted::yes) co_return std::unexpected(not_posted(posted));
  co_return co_await Delivery<Result<T>>::receive({outcome, &outcome->delivery});
}

void SqliteStore::note(Side side, std::optional<Health::Trouble> trouble) {
  const std::lock_guard lock(mutex_);
  auto& noted = side == Side::writing ? health_.writing : health_.reading;
  // A damaged file does not heal, though other parts of it can be read.
  if (noted && noted->fault == Fault::corrupt && !trouble) return;
  const std::string_view doing = side == Side::writing ? "writing to" : "reading from";
  // Once per kind of trouble, not once per request.
  if (trouble && (!noted || noted->fault != trouble->fault)) log::error("{} the store: {}", doing, trouble->message);
  if (!trouble && noted) log::info("{} the store works again", doing);
  noted = std::move(trouble);
}

Health SqliteStore::health() const {
  const std::lock_guard lock(mutex_);
  return health_;
}

Task<Result<Written>> SqliteStore::write(Writes writes) {
  if (auto checked = check(writes); !checked) co_return std::unexpected(std::move(checked.error()));
  const std::size_t bytes = bytes_of(writes);
  auto owned = std::make_shared<const Writes>(std::move(writes));
  co_return co_await in_writer<Written>(
      [this, owned](SqliteConnection& connection) {
        return sqlite::write(connection, sealer_, options_.retention, *owned);
      },
      bytes);
}

Task<Result<std::size_t>> SqliteStore::reseal() {
  return in_writer<std::size_t>([this](SqliteConnection& connection) { return sqlite::reseal(connection, sealer_); },
                                0);
}

Task<Result<std::vector<UpstreamRecord>>> SqliteStore::upstreams() {
  return in_reader<std::vector<UpstreamRecord>>(
      [this](SqliteConnection& connection) { return sqlite::read_upstreams(connection, sealer_); });
}

Task<Result<std::vector<SnapshotRecord>>> SqliteStore::snapshots() {
  return in_reader<std::vector<SnapshotRecord>>(
      [](SqliteConnection& connection) { return sqlite::read_snapshots(connection, std::nullopt); });
}

Task<Result<std::vector<SnapshotRecord>>> SqliteStore::snapshots_of(std::string upstream) {
  return in_reader<std::vector<SnapshotRecord>>([upstream = std::move(upstream)](SqliteConnection& connection) {
    return sqlite::read_snapshots(connection, upstream);
  });
}

Task<Result<ChangePage>> SqliteStore::changes(std::uint64_t since, std::size_t limit) {
  return in_reader<ChangePage>(
      [since, limit](SqliteConnection& connection) { return sqlite::read_changes(connection, since, limit); });
}

Task<Result<std::vector<AuditRecord>>> SqliteStore::audits(std::size_t limit, std::optional<std::uint64_t> before) {
  return in_reader<std::vector<AuditRecord>>(
      [limit, before](SqliteConnection& connection) { return sqlite::read_audits(connection, limit, before); });
}

Task<Result<std::optional<std::string>>> SqliteStore::setting(std::string key) {
  return in_reader<std::optional<std::string>>(
      [key = std::move(key)](SqliteConnection& connection) { return sqlite::read_setting(connection, key); });
}

Task<Result<std::vector<PinRecord>>> SqliteStore::pins_of(std::string upstream) {
  return in_reader<std::vector<PinRecord>>([upstream = std::move(upstream)](SqliteConnection& connection) {
    return sqlite::read_pins(connection, upstream);
  });
}

Task<Result<std::vector<ToolSessionRecord>>> SqliteStore::tool_sessions() {
  return in_reader<std::vector<ToolSessionRecord>>(
      [this](SqliteConnection& connection) { return sqlite::read_tool_sessions(connection, sealer_); });
}

Task<Result<std::vector<SessionToolRecord>>> SqliteStore::session_tools() {
  return in_reader<std::vector<SessionToolRecord>>(
      [this](SqliteConnection& connection) { return sqlite::read_session_tools(connection, sealer_); });
}

Task<Result<std::vector<TokenRecord>>> SqliteStore::tokens() {
  return in_reader<std::vector<TokenRecord>>(
      [this](SqliteConnection& connection) { return sqlite::read_tokens(connection, sealer_); });
}

Task<Result<std::vector<SealedRecord>>> SqliteStore::sealed(std::string kind) {
  return in_reader<std::vector<SealedRecord>>([this, kind = std::move(kind)](SqliteConnection& connection) {
    return sqlite::read_sealed(connection, sealer_, kind);
  });
}

}  // namespace proteus::store
