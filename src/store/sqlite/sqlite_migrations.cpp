#include "store/sqlite/sqlite_migrations.hpp"

#include <array>

#include <fmt/format.h>

#include "store/errors.hpp"
#include "store/sqlite/sqlite_statement.hpp"
#include "store/sqlite/sqlite_transaction.hpp"

namespace proteus::store {
namespace {

// "Prot", for programs that recognise file types.
constexpr std::int64_t kApplication = 0x50726f74;

// Step N takes a database from version N to N + 1. A released step is never changed.
constexpr std::array kSteps = {
    // AUTOINCREMENT never reuses a number, even if all rows are gone.
    R"sql(
      CREATE TABLE upstreams (
        place INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        id TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        settings TEXT NOT NULL,
        secrets BLOB,
        origin TEXT NOT NULL CHECK (origin IN ('runtime', 'file override')),
        file_hash TEXT NOT NULL
      ) STRICT;

      CREATE TABLE snapshots (
        upstream TEXT NOT NULL,
        kind TEXT NOT NULL,
        era TEXT NOT NULL,
        protocol_version TEXT NOT NULL,
        server_facts TEXT NOT NULL,
        taken_at INTEGER NOT NULL,
        entries TEXT NOT NULL,
        PRIMARY KEY (upstream, kind)
      ) STRICT;

      CREATE TABLE changes (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        at INTEGER NOT NULL,
        upstream TEXT NOT NULL,
        kind TEXT NOT NULL,
        change TEXT NOT NULL
      ) STRICT;

      CREATE TABLE audits (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        at INTEGER NOT NULL,
        who TEXT NOT NULL,
        what TEXT NOT NULL,
        detail TEXT NOT NULL
      ) STRICT;

      CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

      -- Opens only with the pepper that the secrets were sealed with.
      CREATE TABLE seal_check (one INTEGER PRIMARY KEY CHECK (one = 1), sealed BLOB NOT NULL) STRICT;
    )sql",
    R"sql(
      CREATE TABLE pins (
        upstream TEXT NOT NULL,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        hash TEXT NOT NULL,
        verdict TEXT NOT NULL CHECK (verdict IN ('ratified', 'rejected')),
        definition TEXT NOT NULL,
        decided_by TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (upstream, kind, name, hash)
      ) STRICT, WITHOUT ROWID;

      CREATE UNIQUE INDEX ratified_pins ON pins (upstream, kind, name) WHERE verdict = 'ratified';
    )sql",
    R"sql(
      CREATE TABLE tool_sessions (
        id TEXT PRIMARY KEY,
        user_id TEXT NOT NULL,
        secrets BLOB,
        context TEXT NOT NULL,
        catalog TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        last_used_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE session_tools (
        session TEXT NOT NULL,
        name TEXT NOT NULL,
        definition TEXT NOT NULL,
        secrets BLOB,
        PRIMARY KEY (session, name)
      ) STRICT, WITHOUT ROWID;
    )sql",
    R"sql(
      CREATE TABLE tokens (
        name TEXT PRIMARY KEY,
        access TEXT NOT NULL,
        secrets BLOB NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        previous_until INTEGER NOT NULL,
        last_used_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
    )sql",
    R"sql(
      CREATE TABLE sealed_records (
        kind TEXT NOT NULL,
        id TEXT NOT NULL,
        sealed BLOB NOT NULL,
        updated_at INTEGER NOT NULL,
        PRIMARY KEY (kind, id)
      ) STRICT, WITHOUT ROWID;
    )sql",
    // Existing records get version 1, because 0 means that there is no record.
    R"sql(
      CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      INSERT INTO counters VALUES
        ('feed', 1),
        ('leases', 0),
        ('changes', coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0)),
        ('audits', coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audits'), 0));

      ALTER TABLE upstreams ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
      ALTER TABLE snapshots ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
      ALTER TABLE settings ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
      ALTER TABLE pins ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
      ALTER TABLE tool_sessions ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
      ALTER TABLE session_tools ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
      ALTER TABLE tokens ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
      ALTER TABLE sealed_records ADD COLUMN version INTEGER NOT NULL DEFAULT 1;

      CREATE TABLE feed (
        number INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        part TEXT NOT NULL
      ) STRICT;

      CREATE TABLE token_hashes (
        hash BLOB PRIMARY KEY,
        owner TEXT NOT NULL,
        sealed BLOB NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX token_hashes_of_owner ON token_hashes (owner);

      CREATE TABLE members (
        name TEXT PRIMARY KEY,
        facts TEXT NOT NULL,
        applied INTEGER NOT NULL,
        seen_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE leases (
        name TEXT PRIMARY KEY,
        owner TEXT NOT NULL,
        token INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
    )sql",
};

Result<std::int64_t> number(SqliteConnection& connection, std::string_view sql) {
  auto query = connection.query(sql);
  const auto row = query.step();
  if (!row) return std::unexpected(row.error());
  return *row ? query.integer(0) : 0;
}

Result<> apply(SqliteConnection& connection, std::size_t step) {
  SqliteTransaction transaction(connection);
  if (auto begun = transaction.begin(); !begun) return begun;
  if (auto done = connection.execute(kSteps.at(step)); !done) return done;
  const std::string version =
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplication, step + 1);
  if (auto done = connection.execute(version); !done) return done;
  return transaction.commit();
}

}  // namespace

std::int64_t schema_version() { return static_cast<std::int64_t>(kSteps.size()); }

Result<> migrate(SqliteConnection& connection, std::int64_t to) {
  const auto version = number(connection, "PRAGMA user_version");
  if (!version) return std::unexpected(version.error());
  const auto application = number(connection, "PRAGMA application_id");
  if (!application) return std::unexpected(application.error());
  const auto tables = number(connection, "SELECT count(*) FROM sqlite_schema");
  if (!tables) return std::unexpected(tables.error());

  const bool is_new = *version == 0 && *tables == 0 && *application == 0;
  if (!is_new && *application != kApplication) return std::unexpected(errors::foreign_database(connection.name()));
  if (*version > schema_version()) {
    return std::unexpected(errors::newer_database(connection.name(), *version, schema_version()));
  }
  if (*version < 0) return std::unexpected(errors::foreign_database(connection.name()));
  for (auto step = static_cast<std::size_t>(*version); step < static_cast<std::size_t>(to); ++step) {
    if (auto applied = apply(connection, step); !applied) return applied;
  }
  return {};
}

}  // namespace proteus::store
