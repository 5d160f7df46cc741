#include "store/sql/token_hashes.hpp"

#include "store/errors.hpp"

namespace proteus::store::sql {
namespace {

std::string hash_binding(std::string_view owner) { return "a hash of " + std::string(owner); }

Result<> insert(Connection& connection, std::string_view hash, std::string_view owner, std::string_view sealed) {
  auto row = connection.query(
      "INSERT INTO token_hashes (hash, owner, sealed) VALUES (?, ?, ?) ON CONFLICT (hash) DO NOTHING RETURNING 1");
  const auto inserted = row.bind(Blob{hash}, owner, Blob{sealed}).step();
  if (!inserted) return std::unexpected(inserted.error());
  if (!*inserted) return std::unexpected(errors::token_taken());
  return {};
}

// While a pepper is being replaced, some hashes are still keyed with the previous one.
Result<> check_previous(Connection& connection, const std::vector<std::string>& keyed) {
  for (std::size_t i = 1; i < keyed.size(); ++i) {
    auto row = connection.query("SELECT 1 FROM token_hashes WHERE hash = ?");
    const auto found = row.bind(Blob{keyed[i]}).step();
    if (!found) return std::unexpected(found.error());
    if (*found) return std::unexpected(errors::token_taken());
  }
  return {};
}

}  // namespace

Result<> write_hashes(Connection& connection, const Sealer& sealer, std::string_view owner,
                      const std::vector<std::string>& hashes) {
  if (auto removed = remove_hashes(connection, owner); !removed) return removed;
  for (const std::string& hash : hashes) {
    const auto keyed = sealer.keyed_hashes(hash);
    if (auto free = check_previous(connection, keyed); !free) return free;
    const std::string sealed = sealer.seal(hash, hash_binding(owner));
    if (auto inserted = insert(connection, keyed.front(), owner, sealed); !inserted) return inserted;
  }
  return {};
}

Result<> remove_hashes(Connection& connection, std::string_view owner) {
  return connection.query("DELETE FROM token_hashes WHERE owner = ?").bind(owner).run();
}

Result<std::size_t> reseal_hashes(Connection& connection, const Sealer& sealer) {
  struct Hashed {
    std::string before;
    std::string owner;
    std::string plain;
  };
  std::vector<Hashed> all;
  {
    auto row = connection.query("SELECT hash, owner, sealed FROM token_hashes");
    for (;;) {
      const auto more = row.step();
      if (!more) return std::unexpected(more.error());
      if (!*more) break;
      Hashed one{row.text(0), row.text(1), {}};
      auto opened = sealer.open(row.view(2), hash_binding(one.owner));
      if (!opened) return std::unexpected(std::move(opened.error()));
      if (opened->with == SealedWith::current) continue;
      one.plain = std::move(opened->plain);
      all.push_back(std::move(one));
    }
  }
  for (const Hashed& one : all) {
    const std::string keyed = sealer.keyed_hashes(one.plain).front();
    const std::string sealed = sealer.seal(one.plain, hash_binding(one.owner));
    auto done = connection.query("UPDATE token_hashes SET hash = ?, sealed = ? WHERE hash = ?")
                    .bind(Blob{keyed}, Blob{sealed}, Blob{one.before})
                    .run();
    if (!done) return std::unexpected(std::move(done.error()));
  }
  return all.size();
}

}  // namespace proteus::store::sql
