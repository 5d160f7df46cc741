#include "store/sql/token_rows.hpp"

#include <fmt/format.h>

#include "store/sql/token_hashes.hpp"

namespace proteus::store::sql {
namespace {

// The binding of a token's hashes. Part of the format: with another text nothing can be opened.
std::string token_binding(std::string_view name) { return fmt::format("the hashes of token {}", name); }
std::string token_owner(std::string_view name) { return fmt::format("token {}", name); }

}  // namespace

Result<> write_token(Connection& connection, const Sealer& sealer, const PutToken& put, std::int64_t version) {
  const TokenRecord& record = put.record;
  if (auto hashes = write_hashes(connection, sealer, token_owner(record.name), put.hashes); !hashes) return hashes;
  const std::string sealed = sealer.seal(record.secrets, token_binding(record.name));
  return connection
      .query(
          "INSERT INTO tokens (name, access, secrets, created_at, expires_at, previous_until, last_used_at, version)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET access = excluded.access,"
          " secrets = excluded.secrets, created_at = excluded.created_at, expires_at = excluded.expires_at,"
          " previous_until = excluded.previous_until, last_used_at = excluded.last_used_at, version = excluded.version")
      .bind(record.name, record.access, Blob{sealed}, microseconds(record.created_at), microseconds(record.expires_at),
            microseconds(record.previous_until), microseconds(record.last_used_at), version)
      .run();
}

Result<> remove_token(Connection& connection, std::string_view name) {
  if (auto hashes = remove_hashes(connection, token_owner(name)); !hashes) return hashes;
  return connection.query("DELETE FROM tokens WHERE name = ?").bind(name).run();
}

Result<> touch_token(Connection& connection, const TouchToken& touch) {
  return connection.query("UPDATE tokens SET last_used_at = ? WHERE name = ? AND last_used_at < ?")
      .bind(microseconds(touch.last_used_at), touch.name, microseconds(touch.last_used_at))
      .run();
}

Result<std::vector<TokenRecord>> read_tokens(Connection& connection, const Sealer& sealer,
                                             const std::optional<std::string>& name) {
  std::vector<TokenRecord> records;
  auto row = connection.query(
      fmt::format("SELECT name, access, secrets, created_at, expires_at, previous_until, last_used_at, version"
                  " FROM tokens{} ORDER BY name",
                  name ? " WHERE name = ?" : ""));
  if (name) row.bind(*name);
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
                                                           .secrets_fault = {},
                                                           .stored = {row.number(7)}});
    auto opened = sealer.open(row.view(2), token_binding(record.name));
    if (opened) {
      record.secrets = std::move(opened->plain);
    } else {
      record.secrets_fault = opened.error().message();
    }
  }
}

Result<std::size_t> reseal_tokens(Connection& connection, const Sealer& sealer) {
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

}  // namespace proteus::store::sql
