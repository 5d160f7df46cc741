#include "store/sql/rows.hpp"
#include "store/sql/sealed_rows.hpp"
#include "store/sql/session_rows.hpp"
#include "store/sql/token_hashes.hpp"
#include "store/sql/token_rows.hpp"
#include "store/sql/upstream_binding.hpp"

namespace proteus::store::sql {
namespace {

constexpr std::string_view kCheckBinding = "the database";

Result<> write_check(Connection& connection, const Sealer& sealer) {
  const std::string sealed = sealer.seal("proteus", kCheckBinding);
  return connection
      .query(
          "INSERT INTO seal_check (one, sealed) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET sealed = excluded.sealed")
      .bind(Blob{sealed})
      .run();
}

struct Resealed {
  std::string name;
  std::string sealed;
};

Result<std::vector<Resealed>> seal_anew(Connection& connection, const Sealer& sealer) {
  std::vector<Resealed> resealed;
  auto query = connection.query("SELECT name, secrets FROM upstreams WHERE secrets IS NOT NULL");
  for (;;) {
    const auto row = query.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return resealed;
    std::string name = query.text(0);
    auto opened = sealer.open(query.view(1), seal_binding(name));
    if (!opened) return std::unexpected(std::move(opened.error()));
    if (opened->with == SealedWith::current) continue;
    std::string sealed = sealer.seal(opened->plain, seal_binding(name));
    resealed.push_back({std::move(name), std::move(sealed)});
  }
}

}  // namespace

Result<> check_seal(Connection& connection, const Sealer& sealer) {
  auto query = connection.query("SELECT sealed FROM seal_check");
  const auto row = query.step();
  if (!row) return std::unexpected(row.error());
  if (!*row) return write_check(connection, sealer);
  if (auto opened = sealer.open(query.view(0), kCheckBinding); !opened) {
    return std::unexpected(std::move(opened.error()).within(connection.name()));
  }
  return {};
}

Result<std::size_t> reseal(Connection& connection, const Sealer& sealer) {
  const auto resealed = seal_anew(connection, sealer);
  if (!resealed) return std::unexpected(resealed.error());
  for (const Resealed& one : *resealed) {
    if (auto done =
            connection.query("UPDATE upstreams SET secrets = ? WHERE name = ?").bind(Blob{one.sealed}, one.name).run();
        !done) {
      return std::unexpected(std::move(done.error()));
    }
  }
  const auto sessions = reseal_sessions(connection, sealer);
  if (!sessions) return sessions;
  const auto tokens = reseal_tokens(connection, sealer);
  if (!tokens) return tokens;
  const auto records = reseal_records(connection, sealer);
  if (!records) return records;
  const auto hashes = reseal_hashes(connection, sealer);
  if (!hashes) return hashes;
  if (auto done = write_check(connection, sealer); !done) return std::unexpected(std::move(done.error()));
  return resealed->size() + *sessions + *tokens + *records + *hashes;
}

}  // namespace proteus::store::sql
