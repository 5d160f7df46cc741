#include "gateway/grants/vault.hpp"

#include <algorithm>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/array.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/secrets/sealing.hpp"
#include "base/text/base64.hpp"
#include "gateway/callers/audit_entry.hpp"
#include "gateway/grants/grant_flight.hpp"
#include "gateway/grants/grant_record.hpp"
#include "gateway/grants/proofs.hpp"
#include "json/canonical.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

constexpr std::string_view kGrant = "grant";
constexpr std::string_view kClient = "client";

std::string client_id_of(std::string_view issuer, std::string_view redirect_uri) {
  return json::hex(json::sha256(fmt::format("{}\n{}", issuer, redirect_uri)));
}

// Hexadecimal, because a dash at the beginning would make it an option on a command line.
std::string new_grant_id() { return json::hex(json::sha256(random_bytes(32))).substr(0, 24); }

}  // namespace

Vault::Vault(Dependencies dependencies)
    : dependencies_(dependencies),
      landed_(dependencies.control.get_executor()),
      tasks_(dependencies.control.get_executor()) {}

Vault::~Vault() = default;

Vault::Shard& Vault::shard_of(const GrantKey& key) { return shards_[key.hash() % shards_.size()]; }
const Vault::Shard& Vault::shard_of(const GrantKey& key) const { return shards_[key.hash() % shards_.size()]; }

Task<Result<>> Vault::load() {
  const auto grants = co_await dependencies_.store.sealed(std::string(kGrant));
  if (!grants) co_return std::unexpected(grants.error());
  for (const auto& record : *grants) {
    auto grant = record.fault.empty() ? read_grant(record.text) : std::unexpected(errors::invalid(record.fault));
    if (!grant) {
      log::warning("a connection to an upstream cannot be used: {}", grant.error().message());
      continue;
    }
    grant->stored = record.stored.version;
    const auto other = find({grant->owner, grant->target});
    if (other && other->id != grant->id) {
      const bool wins = is_newer(*grant, *other);
      const Grant& replaced = wins ? *other : *grant;
      const bool is_replaced = co_await remove_replaced({replaced.id, replaced.stored}, wins ? grant->id : other->id);
      if (wins != is_replaced) continue;
    }
    (void)publish(std::move(*grant));
  }
  const auto clients = co_await dependencies_.store.sealed(std::string(kClient));
  if (!clients) co_return std::unexpected(clients.error());
  const std::scoped_lock lock(clients_mutex_);
  for (const auto& record : *clients) {
    auto client = record.fault.empty() ? read_client(record.text) : std::unexpected(errors::invalid(record.fault));
    if (client) clients_.insert_or_assign({client->issuer, client->redirect_uri}, std::move(*client));
  }
  co_return Result<>{};
}

Task<> Vault::close() {
  closed_ = true;
  // Waits without cancelling: a refresh that is interrupted would lose its grant.
  co_await tasks_.join();
}

GrantPointer Vault::find(const GrantKey& key) const {
  const Shard& shard = shard_of(key);
  const std::scoped_lock lock(shard.mutex);
  const auto found = shard.grants.find(key);
  return found == shard.grants.end() ? nullptr : found->second;
}

GrantState Vault::state(const GrantOwner& owner, const GrantTarget& target) const {
  const auto grant = find(owner, target);
  return grant ? grant->state : GrantState::none;
}

std::vector<GrantPointer> Vault::all() const {
  std::vector<GrantPointer> all;
  for (const Shard& shard : shards_) {
    const std::scoped_lock lock(shard.mutex);
    for (const auto& [key, grant] : shard.grants) {
      if (!grant->is_transient) all.push_back(grant);
    }
  }
  std::ranges::sort(all, {}, [](const GrantPointer& grant) { return std::pair(grant->connected_at, grant->id); });
  return all;
}

std::vector<GrantPointer> Vault::all_of(const GrantOwner& owner) const {
  auto all = this->all();
  std::erase_if(all, [&](const GrantPointer& grant) { return grant->owner != owner; });
  return all;
}

GrantPointer Vault::find_id(std::string_view id) const {
  for (auto& grant : all()) {
    if (grant->id == id) return grant;
  }
  return nullptr;
}

std::size_t Vault::size() const {
  std::size_t size = 0;
  for (const Shard& shard : shards_) {
    const std::scoped_lock lock(shard.mutex);
    size += shard.grants.size();
  }
  return size;
}

GrantPointer Vault::publish(Grant grant) {
  const GrantKey key{grant.owner, grant.target};
  return publish(key, std::move(grant));
}

// Derives what each request needs of the grant.
GrantPointer Vault::publish(const GrantKey& key, Grant grant) {
  grant.version = ++last_version_;
  const bool dpop = grant.tokens.type == auth::oauth::TokenType::dpop;
  grant.headers = std::make_shared<const client::ReadyHeaders>(std::vector<client::Header>{
      {"Authorization", (dpop ? "DPoP " : "Bearer ") + grant.tokens.access_token.reveal()}});
  if (dpop && grant.proof_key && !grant.proofs) {
    if (auto url = net::Url::parse(url_of(grant.target)))
      grant.proofs = std::make_shared<Proofs>(*grant.proof_key, std::move(*url));
  }
  // A refreshed grant still has the times of its former token.
  grant.refresh_at = grant.unusable_at = Clock::Wall::max();
  if (const auto expires = grant.tokens.expires) {
    const auto given = std::max(grant.connected_at, grant.refreshed_at);
    const auto life = std::max<Clock::Wall::duration>(*expires - given, {});
    grant.refresh_at = *expires - std::min<Clock::Wall::duration>(kAhead, life / 5);
    grant.unusable_at = *expires - std::min<Clock::Wall::duration>(kMargin, life / 20);
  }
  grant.refresh_again = std::make_shared<std::atomic<Clock::Wall>>();
  auto made = std::make_shared<const Grant>(std::move(grant));
  Shard& shard = shard_of(key);
  const std::scoped_lock lock(shard.mutex);
  shard.grants.insert_or_assign(key, made);
  return made;
}

void Vault::remove(const GrantKey& key) {
  Shard& shard = shard_of(key);
  const std::scoped_lock lock(shard.mutex);
  shard.grants.erase(key);
  shard.widenings.erase(key);
}

void Vault::end(const GrantPointer& grant) {
  remove({grant->owner, grant->target});
  if (is_identity(grant->target)) remove_obtained(grant->owner);
  tell(grant, GrantState::none);
}

void Vault::remove_obtained(const GrantOwner& owner) {
  for (const auto& [key, under_way] : flights_) {
    const auto flight = key.owner() == owner ? under_way.lock() : nullptr;
    if (flight) flight->outdate();
  }
  for (Shard& shard : shards_) {
    const std::scoped_lock lock(shard.mutex);
    std::erase_if(shard.grants,
                  [&](const auto& entry) { return entry.second->is_transient && entry.first.owner() == owner; });
  }
}

void Vault::remove_ended() {
  obtained_ = 0;
  const auto now = dependencies_.clock.wall();
  for (const bool all : {false, true}) {
    if (all && size() < kMost) return;
    for (Shard& shard : shards_) {
      const std::scoped_lock lock(shard.mutex);
      std::erase_if(shard.grants, [&](const auto& entry) {
        const bool removes = entry.second->is_transient && (all || now >= entry.second->unusable_at);
        if (removes) shard.widenings.erase(entry.first);
        return removes;
      });
    }
  }
}

bool Vault::has_room() {
  if (size() >= kMost) remove_ended();
  return size() < kMost;
}

void Vault::tell(const GrantPointer& grant, GrantState state) {
  for (const auto& each : on_change_)
    each({grant, state});
}

store::Write Vault::audit(std::string who, std::string what, const Grant& grant) const {
  boost::json::array scopes(grant.tokens.scopes.begin(), grant.tokens.scopes.end());
  const boost::json::object detail{{"upstream", grant.upstream},
                                   {"principal", grant.owner_name},
                                   {"issuer", grant.issuer()},
                                   {"scopes", std::move(scopes)}};
  return audit_entry(dependencies_.clock, std::move(who), std::move(what), detail);
}

Task<Result<GrantPointer>> Vault::put(Grant grant, std::string who) {
  co_return co_await asio::co_spawn(dependencies_.control, do_put(std::move(grant), std::move(who)),
                                    asio::use_awaitable);
}

Task<Result<GrantPointer>> Vault::do_put(Grant grant, std::string who) {
  if (grant.owner.value().empty()) co_return std::unexpected(errors::forbidden("an anonymous caller has no grants"));
  const GrantKey key{grant.owner, grant.target};
  const auto flight = co_await take_off(key);
  const auto before = find(key);
  if (!before && !has_room()) co_return std::unexpected(errors::exhausted("there are too many connections"));
  if (grant.id.empty()) grant.id = before && !before->is_transient ? before->id : new_grant_id();
  grant.proofs.reset();
  // In whole seconds, as in the record.
  grant.connected_at = grant.refreshed_at = std::chrono::floor<std::chrono::seconds>(dependencies_.clock.wall());
  grant.obtained_at = dependencies_.clock.now();
  grant.state = GrantState::connected;
  grant.trouble.clear();
  grant.after_refusal = false;
  store::Writes writes;
  writes.emplace_back(store::PutSealed{{.kind = std::string(kGrant),
                                        .id = grant.id,
                                        .text = write_grant(grant, Rotation::none),
                                        .updated_at = store::to_time(dependencies_.clock.wall()),
                                        .fault = {}}});
  writes.push_back(audit(std::move(who), "connection.add", grant));
  auto written = co_await dependencies_.store.write(std::move(writes));
  if (!written) co_return std::unexpected(std::move(written.error()));
  grant.stored = written->versions.empty() ? 0 : written->versions.front();
  grant.rotation_begun = false;
  auto kept = publish(std::move(grant));
  note_sign_in(*kept);
  flight->deliver(kept);
  tell(kept, GrantState::connected);
  co_return kept;
}

Task<Result<Vault::Disconnected>> Vault::disconnect(std::string id, std::string who) {
  co_return co_await asio::co_spawn(dependencies_.control, do_disconnect(std::move(id), std::move(who)),
                                    asio::use_awaitable);
}

Task<Result<Vault::Disconnected>> Vault::do_disconnect(std::string id, std::string who) {
  auto grant = find_id(id);
  if (!grant) co_return std::unexpected(errors::not_found("there is no such connection"));
  const GrantKey key{grant->owner, grant->target};
  const auto flight = co_await take_off(key);
  // The grant may have been refreshed or removed meanwhile.
  grant = find(key);
  if (!grant || grant->id != id) co_return std::unexpected(errors::not_found("there is no such connection"));
  store::Writes writes;
  writes.emplace_back(store::RemoveSealed{std::string(kGrant), id});
  writes.push_back(audit(std::move(who), "connection.remove", *grant));
  if (auto written = co_await dependencies_.store.write(std::move(writes)); !written)
    co_return std::unexpected(std::move(written.error()));
  end(grant);
  flight->deliver(std::unexpected(errors::unauthenticated("the connection has ended")));
  Disconnected disconnected{.grant = grant};
  const auto revoked = co_await dependencies_.servers.revoke(grant);
  disconnected.revoked = revoked.has_value();
  if (!revoked) disconnected.why_not = revoked.error().message();
  co_return disconnected;
}

std::optional<auth::oauth::Client> Vault::registration(std::string_view issuer, std::string_view redirect_uri) const {
  const std::scoped_lock lock(clients_mutex_);
  const auto found = clients_.find({std::string(issuer), std::string(redirect_uri)});
  return found == clients_.end() ? std::nullopt : std::optional(found->second);
}

Task<Result<>> Vault::keep(auth::oauth::Client client) {
  store::Writes writes;
  writes.emplace_back(store::PutSealed{{.kind = std::string(kClient),
                                        .id = client_id_of(client.issuer, client.redirect_uri),
                                        .text = write_client(client),
                                        .updated_at = store::to_time(dependencies_.clock.wall()),
                                        .fault = {}}});
  if (auto written = co_await dependencies_.store.write(std::move(writes)); !written)
    co_return std::unexpected(std::move(written.error()));
  const std::scoped_lock lock(clients_mutex_);
  clients_.insert_or_assign({client.issuer, client.redirect_uri}, std::move(client));
  co_return Result<>{};
}

bool Vault::begin_replacing(const auth::oauth::Client& client) {
  const auto now = dependencies_.clock.now();
  const std::scoped_lock lock(clients_mutex_);
  std::erase_if(forgotten_, [&](const auto& each) { return now - each.second >= kRegisterAgain; });
  const auto found = clients_.find({client.issuer, client.redirect_uri});
  return found != clients_.end() && found->second.id == client.id && forgotten_.emplace(found->first, now).second;
}

Task<> Vault::forget_registration(auth::oauth::Client client) {
  if (!begin_replacing(client)) co_return;
  const std::string id = client_id_of(client.issuer, client.redirect_uri);
  {
    const std::scoped_lock lock(clients_mutex_);
    std::erase_if(clients_, [&](const auto& each) {
      return each.first == ClientKey(client.issuer, client.redirect_uri) && each.second.id == client.id;
    });
  }
  log::warning(
      "the authorization server {} no longer knows the client that was registered there: the next sign-in "
      "registers another one",
      log::printable(client.issuer));
  // Another process may have registered one already.
  const auto record = co_await dependencies_.store.sealed_record(std::string(kClient), id);
  if (!record || !*record) co_return;
  const auto kept = read_client((*record)->text);
  if (kept && kept->id != client.id) co_return;
  store::Writes writes;
  writes.emplace_back(store::Expect{{store::RecordKind::sealed, std::string(kClient), id}, (*record)->stored.version});
  writes.emplace_back(store::RemoveSealed{std::string(kClient), id});
  if (auto written = co_await dependencies_.store.write(std::move(writes)); !written)
    log::warning("a client that is not known any more is still in the store: {}", written.error().message());
}

}  // namespace proteus::gateway
