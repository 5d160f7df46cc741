// Follows grants that other processes got, refreshed or lost. Everything here runs on the control thread.
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/tasks/waiting.hpp"
#include "gateway/grants/grant_flight.hpp"
#include "gateway/grants/grant_record.hpp"
#include "gateway/grants/vault.hpp"
#include "json/canonical.hpp"

namespace proteus::gateway {
namespace {

constexpr std::chrono::milliseconds kLookAgain{100};
// After this many looks at a record, any request for a token has ended.
constexpr int kLooks = 300;
// After this many, the refresh token is sent again if the server accepts the same one twice.
constexpr int kLooksIfSame = 20;

}  // namespace

void Vault::take_over_record(Grant grant) {
  const auto before = find({grant.owner, grant.target});
  grant.proofs = before && before->id == grant.id ? before->proofs : nullptr;
  const auto taken = publish(std::move(grant));
  failures_.erase({taken->owner, taken->target});
  const bool is_new = !before || before->connected_at != taken->connected_at;
  if (is_new) note_sign_in(*taken);
  if (is_new || before->state != taken->state) tell(taken, taken->state);
}

bool Vault::waits_for_flight(const GrantKey& key, const std::string& id) {
  const auto under_way = flights_.find(key);
  const auto flight = under_way == flights_.end() ? nullptr : under_way->second.lock();
  if (flight) flight->follow_later(id);
  return flight != nullptr;
}

Task<> Vault::follow_again(std::string id) {
  if (const auto followed = co_await follow("grant", std::move(id)); !followed)
    log::warning("a connection that another process changed cannot be read: {}", followed.error().message());
}

bool Vault::is_newer(const Grant& grant, const Grant& other) {
  return std::tie(grant.connected_at, grant.id) > std::tie(other.connected_at, other.id);
}

// The clocks of two processes may differ, so that the winner is the older sign-in, and gone.
Task<bool> Vault::remove_replaced(StoredGrant replaced, std::string winner) {
  const auto warn = [](const Error& error) {
    log::warning("a connection that was replaced is still in the store: {}", error.message());
  };
  for (;;) {
    const auto kept = co_await dependencies_.store.sealed_record("grant", winner);
    const auto present = co_await dependencies_.store.sealed_record("grant", replaced.id);
    if (!kept || !present) {
      warn(kept ? present.error() : kept.error());
      co_return true;
    }
    if (!*kept) co_return false;
    // The feed tells this process of the change, and it then compares the two anew.
    if (!*present || (*present)->stored.version != replaced.version) co_return true;
    store::Writes writes;
    writes.emplace_back(store::Expect{{store::RecordKind::sealed, "grant", winner}, (*kept)->stored.version});
    writes.emplace_back(store::Expect{{store::RecordKind::sealed, "grant", replaced.id}, replaced.version});
    writes.emplace_back(store::RemoveSealed{"grant", replaced.id});
    const auto written = co_await dependencies_.store.write(std::move(writes));
    if (written) co_return true;
    if (written.error().kind() == ErrorKind::conflict) continue;
    warn(written.error());
    co_return true;
  }
}

Task<Result<>> Vault::follow(std::string kind, std::string id) {
  if (kind == "client") co_return co_await follow_client(std::move(id));
  if (kind != "grant") co_return Result<>{};
  const auto record = co_await dependencies_.store.sealed_record(kind, id);
  if (!record) co_return std::unexpected(record.error());
  if (!*record) {
    const auto gone = find_id(id);
    if (!gone || waits_for_flight({gone->owner, gone->target}, id)) co_return Result<>{};
    end(gone);
    co_return Result<>{};
  }
  auto grant =
      (*record)->fault.empty() ? read_grant((*record)->text) : std::unexpected(errors::invalid((*record)->fault));
  if (!grant) {
    log::warning("a connection to an upstream cannot be used: {}", grant.error().message());
    co_return Result<>{};
  }
  grant->stored = (*record)->stored.version;
  const GrantKey key{grant->owner, grant->target};
  if (waits_for_flight(key, id)) co_return Result<>{};
  const auto before = find(key);
  const bool is_other = before && before->id != grant->id;
  if (before && !is_other && before->stored >= grant->stored) co_return Result<>{};
  // The present token is valid until the other process has got a new one.
  if (before && grant->rotation_begun) co_return Result<>{};
  const bool is_late = is_other && !is_newer(*grant, *before);
  const std::uint64_t stored = grant->stored;
  if (!is_late) take_over_record(std::move(*grant));
  if (!is_other) co_return Result<>{};
  const std::string winner = is_late ? before->id : id;
  const StoredGrant replaced = is_late ? StoredGrant{id, stored} : StoredGrant{before->id, before->stored};
  if (co_await remove_replaced(replaced, winner)) co_return Result<>{};
  // Drops the winner, and takes over the other one in its place.
  if (auto followed = co_await follow(kind, winner); !followed) co_return followed;
  co_return co_await follow(std::move(kind), replaced.id);
}

Task<Result<>> Vault::follow_client(std::string id) {
  const auto record = co_await dependencies_.store.sealed_record("client", id);
  if (!record) co_return std::unexpected(record.error());
  auto client = *record && (*record)->fault.empty() ? read_client((*record)->text)
                                                    : std::unexpected(errors::not_found("there is none"));
  const std::scoped_lock lock(clients_mutex_);
  if (client) {
    clients_.insert_or_assign({client->issuer, client->redirect_uri}, std::move(*client));
  } else {
    std::erase_if(clients_, [&](const auto& entry) {
      return json::hex(json::sha256(fmt::format("{}\n{}", entry.first.first, entry.first.second))) == id;
    });
  }
  co_return Result<>{};
}

Task<Result<>> Vault::follow_all() {
  std::set<std::string> ids;
  for (const auto& grant : all())
    ids.insert(grant->id);
  for (const char* const kind : {"grant", "client"}) {
    const auto records = co_await dependencies_.store.sealed(kind);
    if (!records) co_return std::unexpected(records.error());
    for (const auto& record : *records)
      ids.insert(record.id);
    for (const auto& id : std::exchange(ids, {})) {
      if (auto followed = co_await follow(kind, id); !followed) co_return followed;
    }
  }
  co_return Result<>{};
}

Task<Result<GrantPointer>> Vault::wait_for_other(GrantPointer grant) {
  for (int looks = 0;; ++looks) {
    const auto record = co_await dependencies_.store.sealed_record("grant", grant->id);
    if (!record) co_return std::unexpected(record.error());
    if (!*record) {
      end(grant);
      co_return std::unexpected(errors::unauthenticated("the connection has ended"));
    }
    auto now =
        (*record)->fault.empty() ? read_grant((*record)->text) : std::unexpected(errors::invalid((*record)->fault));
    if (!now) co_return std::unexpected(std::move(now.error()));
    now->stored = (*record)->stored.version;
    if (!now->rotation_begun) {
      take_over_record(std::move(*now));
      auto taken = find({grant->owner, grant->target});
      if (is_usable(*taken)) co_return taken;
      if (taken->state == GrantState::needs_sign_in)
        co_return std::unexpected(errors::unauthenticated(fmt::format(
            "{} has to sign in at upstream {} again: {}", taken->owner_name, taken->upstream, taken->trouble)));
      co_return std::unexpected(errors::exhausted("another process could not refresh the token"));
    }
    if (looks >= kLooksIfSame && !now->rotates.value_or(true)) {
      take_over_record(std::move(*now));
      co_return co_await refresh(find({grant->owner, grant->target}), false);
    }
    if (looks == kLooks) {
      Grant lost = *grant;
      lost.stored = now->stored;
      co_return co_await give_up(std::make_shared<const Grant>(std::move(lost)),
                                 "another process ended while it refreshed it");
    }
    co_await sleep_for(kLookAgain);
  }
}

}  // namespace proteus::gateway
