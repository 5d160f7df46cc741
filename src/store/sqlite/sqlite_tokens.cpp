#include "store/sqlite/sqlite_tokens.hpp"

#include <fmt/format.h>

#include "store/sqlite/sqlite_query.hpp"

namespace proteus::store::sqlite {
namespace {

// What the hashes are bound to. Part of the format: another text opens nothing.
std::string token_binding(std::string_view name) { return fmt::format("the hashes of token {}", name); }

}  // namespace

Result<> write_token(SqliteConnection& connection, const Sealer& sealer, const TokenRecord& record) {
  const std::string sealed = sealer.seal(record.secrets, token_binding(record.name));
  return connection
      .query(
          "INSERT OR REPLACE INTO tokens (name, access, secrets, created_at, expires_at, previous_until, last_used_at)"
          " VALUES (?, ?, ?, ?, ?, ?, ?)")
      .bind(record.name, record.access, Blob{sealed}, microseconds(record.created_at), microseconds(record.expires_at),
            microseconds(record.previous_until), microseconds(record.last_used_at))
      .run();
}

Result<> remove_token(SqliteConnection& connection, std::string_view name) {
  return connection.query("DELETE FROM tokens WHERE name = ?").bind(name).run();
}

Result<> touch_token(SqliteConnection& connection, const TouchToken& touch) {
  return connection.query("UPDATE tokens SET last_used_at = ? WHERE name = ?")
      .bind(microseconds(touch.last_used_at), touch.name)
      .run();
}

Result<std::vector<TokenRecord>> read_tokens(SqliteConnection& connection, const Sealer& sealer) {
  std::vector<TokenRecord> records;
  auto row = connection.query(
      "SELECT name, access, secrets, created_at, expires_at, previous_until, last_used_at FROM tokens ORDER BY name");
  for (;;) {
    const auto more = row.step();
    if (!more) return std::unexpected(more.error());
    if (!*more) return records;
    TokenRecord& record = records.emplace_back(TokenRecord{.name = row.text(0),
                                                           .access = row.text(1),
                                                           .secrets = {},
                                                           .created_at = time_of(row.integer(3)),
                                                           .expires_at = time_of(row.integer(4)),
                                                           .previous_until = time_of(row.integer(5)),
                                                           .last_used_at = time_of(row.integer(6)),
                                                           .secrets_fault = {}});
    auto opened = sealer.open(row.view(2), token_binding(record.name));
    if (opened) {
      record.secrets = std::move(opened->plain);
    } else {
      record.secrets_fault = opened.error().message();
    }
  }
}

Result<std::size_t> reseal_tokens(SqliteConnection& connection, const Sealer& sealer) {
  struct ResealedToken {
    std::string name;
    std::string sealed;
  };
  std::vector<ResealedToken> resealed;
  {
    auto row = connection.query("SELECT name, secrets FROM tokens");
    for (;;) {
      const auto more = row.step();
      if (!more) return std::unexpected(more.error());
      if (!*more) break;
      std::string name = row.text(0);
      auto opened = sealer.open(row.view(1), token_binding(name));
      if (!opened) return std::unexpected(std::move(opened.error()));
      if (opened->with == SealedWith::current) continue;
      std::string sealed = sealer.seal(opened->plain, token_binding(name));
      resealed.push_back({std::move(name), std::move(sealed)});
    }
  }
  for (const ResealedToken& one : resealed) {
    auto done = connection.query("UPDATE tokens SET secrets = ? WHERE name = ?").bind(Blob{one.sealed}, one.name).run();
    if (!done) return std::unexpected(std::move(done.error()));
  }
  return resealed.size();
}

}  // namespace proteus::store::sqlite
