// Grants that other processes got, refreshed or lost. All of it on the control thread.
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/waiting.hpp"
#include "gateway/grants/grant_flight.hpp"
#include "gateway/grants/grant_record.hpp"
#include "gateway/grants/vault.hpp"
#include "json/canonical.hpp"

namespace proteus::gateway {
namespace {

constexpr std::chrono::milliseconds kLookAgain{100};
// A request for a token has ended by then.
constexpr int kLooks = 300;
// Where the same refresh token may be sent again.
constexpr int kLooksIfSame = 20;

}  // namespace

void Vault::take_over_record(Grant grant) {
  const auto before = find({grant.owner, grant.target});
  grant.proofs = before && before->id == grant.id ? before->proofs : nullptr;
  const auto state = grant.state;
  const auto taken = publish(std::move(grant));
  failures_.erase({taken->owner, taken->target});
  if (!before || before->state != state) tell(taken, state);
}

Task<Result<>> Vault::follow(std::string kind, std::string id) {
  if (kind == "client") co_return co_await follow_client(std::move(id));
  if (kind != "grant") co_return Result<>{};
  const auto record = co_await dependencies_.store.sealed_record(kind, id);
  if (!record) co_return std::unexpected(record.error());
  if (!*record) {
    const auto gone = find_id(id);
    if (!gone || flights_.contains({gone->owner, gone->target})) co_return Result<>{};
    remove({gone->owner, gone->target});
    tell(gone, GrantState::none);
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
  const auto before = find(key);
  // Whoever refreshes it here finds out by itself.
  if (flights_.contains(key) || (before && before->stored >= grant->stored)) co_return Result<>{};
  // Its token is good until the other has another.
  if (before && grant->rotation_begun) co_return Result<>{};
  take_over_record(std::move(*grant));
  co_return Result<>{};
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
      remove({grant->owner, grant->target});
      tell(grant, GrantState::none);
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
