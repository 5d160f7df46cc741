// Keeps tokens fresh. Everything here runs on the control thread, except for `usable_now`, `usable`, `renew_soon` and
// `widen`, which run on any.
#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "gateway/grants/grant_flight.hpp"
#include "gateway/grants/grant_record.hpp"
#include "gateway/grants/vault.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kObtainedAtMost = 1000;  // obtained before expired grants are removed

Error sign_in_needed(const Grant& grant) {
  return errors::unauthenticated(
      fmt::format("{} has to sign in at upstream {} again: {}", grant.owner_name, grant.upstream, grant.trouble));
}

Error not_connected(const GrantOwner& owner) {
  return errors::unauthenticated(owner == gateway_owner()
                                     ? "nobody has connected the gateway to it yet: `proteus connections add` does"
                                     : "the caller has not connected this upstream");
}

}  // namespace

GrantPointer Vault::usable_now(const GrantKey& key, const Secret& caller_token) {
  auto grant = find(key);
  if (!grant || grant->state != GrantState::connected) return nullptr;
  if (grant->refresh_at == Clock::Wall::max()) return grant;
  const auto now = dependencies_.clock.wall();
  if (now >= grant->unusable_at) return nullptr;
  if (now >= grant->refresh_at && grant->can_refresh()) {
    auto due = grant->refresh_again->load();
    if (now >= due && grant->refresh_again->compare_exchange_strong(due, now + kTryAheadAgain))
      renew_soon(*grant, caller_token);
  }
  return grant;
}

Task<Result<GrantPointer>> Vault::usable(Wanted wanted) {
  if (auto grant = usable_now({wanted.owner, wanted.target, wanted.caller_token}, wanted.caller_token);
      grant && grant->version != wanted.refused)
    co_return grant;
  auto answer = std::make_shared<Delivery<Result<GrantPointer>>>();
  asio::post(dependencies_.control,
             [this, wanted = std::move(wanted), answer]() mutable { renew(std::move(wanted), std::move(answer)); });
  co_return co_await Delivery<Result<GrantPointer>>::receive(std::move(answer));
}

// Starts a refresh that nobody waits for.
void Vault::renew_soon(const Grant& grant, const Secret& caller_token) {
  Wanted wanted{.owner = grant.owner,
                .target = grant.target,
                .refused = grant.version,
                .caller_token = caller_token,
                .ahead = true};
  asio::post(dependencies_.control, [this, wanted = std::move(wanted)]() mutable {
    renew(std::move(wanted), std::make_shared<Delivery<Result<GrantPointer>>>());
  });
}

bool Vault::is_usable(const Grant& grant) const {
  return grant.state == GrantState::connected && dependencies_.clock.wall() < grant.unusable_at;
}

void Vault::renew(Wanted wanted, Answer answer) {
  if (closed_) return answer->deliver(std::unexpected(errors::cancelled("the request for a token")));
  GrantKey key{wanted.owner, wanted.target, wanted.caller_token};
  if (const auto under_way = flights_.find(key); under_way != flights_.end()) {
    if (const auto flight = under_way->second.lock()) return flight->add(std::move(answer));
  }
  auto grant = find(key);
  if (grant && grant->version != wanted.refused && is_usable(*grant)) return answer->deliver(std::move(grant));
  if (!grant || grant->is_transient) {
    const Obtaining obtaining = dependencies_.servers.obtaining(key.target());
    if (!grant && obtaining == Obtaining::by_person)
      return answer->deliver(std::unexpected(not_connected(key.owner())));
    // Not noted as a failure of the server: the caller's next request brings the token.
    if (obtaining == Obtaining::by_caller_token && wanted.caller_token.empty()) {
      return answer->deliver(
          std::unexpected(errors::unauthenticated("the request has no token of the caller to exchange")));
    }
  }
  if (grant && grant->state != GrantState::connected) return answer->deliver(std::unexpected(sign_in_needed(*grant)));
  const bool is_refused = grant && grant->version == wanted.refused && !wanted.ahead;
  // A server in trouble is not asked for every request.
  if (const auto failed = failures_.find(key); failed != failures_.end()) {
    if (dependencies_.clock.now() < failed->second.until) return answer->deliver(std::unexpected(failed->second.error));
  }
  auto flight = std::make_shared<Flight>(*this, key);
  flights_.insert_or_assign(key, flight);
  flight->add(std::move(answer));
  if (is_refused && grant->after_refusal && dependencies_.clock.now() - grant->obtained_at < kJustGiven) {
    return tasks_.spawn(
        "looking for an authorization server",
        look_for_issuer(std::move(flight), std::move(key), std::move(grant), std::move(wanted.challenge)));
  }
  if (!grant)
    grant = std::make_shared<const Grant>(Grant{.owner = wanted.owner, .target = wanted.target, .is_transient = true});
  tasks_.spawn("getting a token",
               renew(std::move(flight), std::move(key), std::move(grant), std::move(wanted.caller_token), is_refused));
}

Task<> Vault::renew(std::shared_ptr<Flight> flight, GrantKey key, GrantPointer grant, Secret caller_token,
                    bool is_refused) {
  const auto result = grant->is_transient ? co_await obtain(flight, key, std::move(caller_token), is_refused)
                                          : co_await refresh(std::move(grant), is_refused);
  conclude(key, *flight, result);
}

void Vault::conclude(const GrantKey& key, Flight& flight, const Result<GrantPointer>& result) {
  if (result) {
    failures_.erase(key);
  } else {
    note_failure(key, result.error());
  }
  flight.deliver(result);
}

void Vault::note_failure(const GrantKey& key, const Error& error) {
  if (failures_.size() >= kMostFailures) failures_.clear();
  failures_.insert_or_assign(key, Failure{dependencies_.clock.now() + kTryAgain, error});
}

Task<> Vault::look_for_issuer(std::shared_ptr<Flight> flight, GrantKey key, GrantPointer grant, std::string challenge) {
  Result<GrantPointer> result = std::unexpected(
      errors::unauthenticated("the upstream refuses a token that its authorization server has just given"));
  if (!grant->is_transient) {
    const auto issuer = co_await dependencies_.servers.issuer_now(grant, std::move(challenge));
    if (issuer && *issuer != grant->issuer())
      result = co_await give_up(grant, "its upstream uses another authorization server now");
  }
  conclude(key, *flight, result);
}

Task<std::shared_ptr<Vault::Flight>> Vault::take_off(GrantKey key) {
  for (;;) {
    const auto under_way = flights_.find(key);
    if (under_way == flights_.end()) break;
    co_await landed_.wait();
  }
  auto flight = std::make_shared<Flight>(*this, key);
  failures_.erase(key);
  flights_.insert_or_assign(std::move(key), flight);
  co_return flight;
}

Task<Result<GrantPointer>> Vault::obtain(std::shared_ptr<Flight> flight, GrantKey key, Secret caller_token,
                                         bool is_refused) {
  auto obtained = co_await dependencies_.servers.obtain(key.owner(), key.target(), caller_token);
  while (obtained && flight->take_outdated())
    obtained = co_await dependencies_.servers.obtain(key.owner(), key.target(), caller_token);
  if (!obtained) co_return std::unexpected(std::move(obtained.error()));
  if (!find(key) && !has_room()) co_return std::unexpected(errors::exhausted("there are too many connections"));
  obtained->owner = key.owner();
  obtained->target = key.target();
  obtained->is_transient = true;
  obtained->after_refusal = is_refused;
  obtained->connected_at = obtained->refreshed_at = dependencies_.clock.wall();
  obtained->obtained_at = dependencies_.clock.now();
  // Expired tokens are removed even if there is still room.
  if (++obtained_ >= kObtainedAtMost) remove_ended();
  co_return publish(key, std::move(*obtained));
}

Task<Result<>> Vault::write(Grant& grant, bool rotation_begun) {
  store::Writes writes;
  if (dependencies_.shared)
    writes.emplace_back(store::Expect{{store::RecordKind::sealed, "grant", grant.id}, grant.stored});
  writes.emplace_back(store::PutSealed{{.kind = "grant",
                                        .id = grant.id,
                                        .text = write_grant(grant, rotation_begun ? Rotation::begun : Rotation::none),
                                        .updated_at = store::to_time(dependencies_.clock.wall()),
                                        .fault = {}}});
  auto written = co_await dependencies_.store.write(std::move(writes));
  if (!written) co_return std::unexpected(std::move(written.error()));
  if (!written->versions.empty()) grant.stored = written->versions.front();
  co_return Result<>{};
}

// Returns whether the owner signed in again, or ended the connection, at another process.
bool Vault::is_overtaken(const Result<>& written) const {
  return dependencies_.shared && !written && written.error().kind() == ErrorKind::conflict;
}

Task<Result<GrantPointer>> Vault::refresh(GrantPointer grant, bool is_refused) {
  if (grant->tokens.refresh_token.empty())
    co_return co_await give_up(grant, "its access token has ended or is refused, and there is no refresh token");
  // A server that does not rotate refresh tokens accepts the same one again. Other processes must wait all the same.
  if (dependencies_.shared || grant->rotates.value_or(true)) {
    Grant begun = *grant;
    if (auto written = co_await write(begun, true); !written) {
      if (is_overtaken(written)) co_return co_await wait_for_other(std::move(grant));
      co_return std::unexpected(std::move(written.error()).within("a token is not refreshed"));
    }
    grant = std::make_shared<const Grant>(std::move(begun));
  }
  co_return co_await take_over(grant, co_await dependencies_.servers.refresh(grant), is_refused);
}

Task<Result<GrantPointer>> Vault::take_over(GrantPointer grant, Refreshed refreshed, bool is_refused) {
  using enum Refreshed::Outcome;
  const bool same_again = !grant->rotates.value_or(true);
  if (refreshed.outcome == refused)
    co_return co_await give_up(grant, "the authorization server refused to refresh it: " + refreshed.why);
  if (refreshed.outcome == client_gone) {
    co_await forget_registration(grant->client);
    co_return co_await give_up(grant, "the authorization server no longer knows this gateway: " + refreshed.why);
  }
  if (refreshed.outcome == unknown && !same_again)
    co_return co_await give_up(grant, "its refresh token was sent, and no answer came: " + refreshed.why);
  if (refreshed.outcome != renewed) {
    if (dependencies_.shared || !same_again) {
      Grant as_before = *grant;
      const auto written = co_await write(as_before, false);
      if (is_overtaken(written)) co_return co_await wait_for_other(std::move(grant));
      if (written && dependencies_.shared) (void)publish(std::move(as_before));
    }
    co_return std::unexpected(errors::exhausted("a token could not be refreshed: " + refreshed.why));
  }
  Grant next = *grant;
  const bool rotated =
      !refreshed.tokens.refresh_token.empty() && !(refreshed.tokens.refresh_token == grant->tokens.refresh_token);
  next.rotates = rotated;
  next.after_refusal = is_refused;
  if (refreshed.tokens.refresh_token.empty()) refreshed.tokens.refresh_token = grant->tokens.refresh_token;
  if (refreshed.tokens.id_token.empty()) refreshed.tokens.id_token = grant->tokens.id_token;
  next.tokens = std::move(refreshed.tokens);
  next.refreshed_at = dependencies_.clock.wall();
  next.obtained_at = dependencies_.clock.now();
  if (auto written = co_await write(next, false); !written) {
    if (is_overtaken(written)) co_return co_await wait_for_other(std::move(grant));
    // Tokens that came with a refresh token which may be lost are not used.
    if (rotated)
      co_return co_await give_up(grant, "its new refresh token could not be kept: " + written.error().message());
    log::warning("upstream {}: a new token of {} is not in the store: {}", grant->upstream, grant->owner_name,
                 written.error().message());
  }
  co_return publish(std::move(next));
}

Task<Result<GrantPointer>> Vault::give_up(GrantPointer grant, std::string why) {
  Grant next = *grant;
  next.state = GrantState::needs_sign_in;
  next.trouble = std::move(why);
  next.tokens.access_token = {};
  next.tokens.refresh_token = {};
  if (auto written = co_await write(next, false); !written) {
    if (is_overtaken(written)) co_return co_await wait_for_other(std::move(grant));
    log::warning("the end of a connection is not in the store: {}", written.error().message());
  }
  const auto lost = publish(std::move(next));
  log::info("upstream {}: {} has to sign in again: {}", lost->upstream, lost->owner_name, lost->trouble);
  tell(lost, GrantState::needs_sign_in);
  co_return std::unexpected(sign_in_needed(*lost));
}

Result<auth::oauth::Scopes> Vault::widen(const Grant& grant, const auth::oauth::Scopes& wanted) {
  const auto refuse = [&](std::string_view why) {
    return std::unexpected(
        errors::forbidden(fmt::format("it asks for scopes {} ({})", why, auth::oauth::write_scopes(wanted))));
  };
  if (auth::oauth::includes(grant.tokens.scopes, wanted)) return refuse("that were granted");
  const GrantKey key{grant.owner, grant.target};
  const auto now = dependencies_.clock.now();
  Shard& shard = shard_of(key);
  const std::scoped_lock lock(shard.mutex);
  Widening& widening = shard.widenings[key];
  if (now >= widening.until) widening = {.asked = grant.tokens.scopes};
  if (!auth::oauth::includes(widening.asked, wanted)) {
    if (widening.times == kMostWidenings) return refuse("too often; call again in some minutes");
    widening = {.asked = auth::oauth::united(widening.asked, wanted),
                .times = widening.times + 1,
                .until = now + kWideningLife};
  } else if (widening.in_vain) {
    return refuse("that its authorization server has just not granted");
  }
  return widening.asked;
}

void Vault::note_sign_in(const Grant& grant) {
  // Grants that could not be obtained before their owner signed in can be obtained now.
  if (is_identity(grant.target))
    std::erase_if(failures_, [&](const auto& entry) { return entry.first.owner() == grant.owner; });
  const GrantKey key{grant.owner, grant.target};
  Shard& shard = shard_of(key);
  const std::scoped_lock lock(shard.mutex);
  const auto asked = shard.widenings.find(key);
  if (asked == shard.widenings.end()) return;
  if (auth::oauth::includes(grant.tokens.scopes, asked->second.asked)) {
    shard.widenings.erase(asked);
  } else if (auth::oauth::includes(grant.asked, asked->second.asked)) {
    asked->second.in_vain = true;
  }
}

}  // namespace proteus::gateway
