// Admission of callers, and the end of what they have open when their rights change.
#include "gateway/callers/credentials.hpp"
#include "gateway/core/gateway.hpp"
#include "net/http_server/refused_request.hpp"

namespace proteus::gateway {

void Gateway::set_access(Access access) {
  const std::scoped_lock lock(setting_access_);
  access.tokens = access_.get()->tokens;
  change_access(std::make_shared<const Access>(std::move(access)));
}

void Gateway::renew_contexts() {
  const std::scoped_lock lock(setting_access_);
  const auto before = access_.get();
  if (!before->contexts || before->contexts->empty()) return;
  change_access(std::make_shared<const Access>(before->principals, before->contexts->renewed(), before->tokens));
}

void Gateway::change_access(const std::shared_ptr<const Access>& access) {
  const auto before = access_.get();
  access_.set(access);
  const auto withdrawn = before->principals->withdraw_unless_kept_by(*access->principals);
  fanout_.set_contexts(access->contexts, catalog_.current());
  end_outdated(access);
  // The token of the file that has the name now may be somebody else's.
  forget_all(withdrawn);
}

void Gateway::set_identities(IdentitySettings settings) {
  const std::scoped_lock lock(setting_access_);
  std::vector<IdentityClient> clients;
  for (const auto& issuer : settings.issuers) {
    if (issuer.sign_in.are_given())
      clients.push_back({issuer.issuer, issuer.sign_in.client_id, issuer.sign_in.client_secret});
  }
  oauth_servers_->set_identity_clients(std::move(clients));
  identities_->set(std::move(settings));
  end_outdated(access_.get());
}

void Gateway::end_outdated(const std::shared_ptr<const Access>& access) {
  // What is open keeps the rights with which it began, so it ends if these have changed.
  const auto outdated = [this, access](const server::Caller& caller) {
    const bool there = caller.context.empty() || (access->contexts && access->contexts->find(caller.context));
    if (!there) return true;
    const Principal& principal = principal_of(caller);
    if (principal.rules() != 0) return !identities_->keeps(principal);
    return principal.is_configured() && !access->principals->keeps(principal);
  };
  constexpr const char* kWhy = "the configuration no longer grants this";
  listeners_.end(outdated);
  endpoint_->sessions().end(outdated, kWhy);
  end_calls(outdated, kWhy);
}

bool Gateway::has_context(std::string_view name) const {
  const auto contexts = access_.get()->contexts;
  return contexts && contexts->find(name);
}

std::optional<server::Admission> Gateway::admit_now(const net::Request& request, std::string_view context) const {
  Worker& here = service_->here();
  const Access& access = here.access();
  const Credentials given = credentials_of(request);
  if (given.scheme == Credentials::Scheme::none && access.principals->anonymous())
    return enter(request, access.principals->anonymous(), context);
  IdentityReader& identities = here.identities();
  if (!given.token.empty()) {
    TokenHash& hash = TokenHash::on_connection_of(request);
    const json::Digest& token = hash.of(given.token, request.authorization_number());
    // Verified tokens come first: nobody else knows them, and if there are issuers, most callers have one.
    if (auto vouched_for = identities.look(token, given, request, context)) {
      hash.keep(given.token);
      if (!*vouched_for) return std::unexpected(std::move(vouched_for->error()));
      return enter(request, std::move(**vouched_for), context);
    }
    if (auto holder = given.scheme == Credentials::Scheme::bearer ? holder_of(given.token, token, access) : nullptr) {
      if (holder->expires() && holder->has_expired(clock_.wall()))
        return refuse(request, "The bearer token has expired");
      return enter(request, std::move(holder), context);
    }
    if (identities.are_used()) return std::nullopt;
  }
  if (identities.are_used()) return std::unexpected(identities.challenge(request, context));
  return refuse(request, given.scheme == Credentials::Scheme::none ? "A bearer token is required"
                                                                   : "The bearer token is unknown");
}

std::shared_ptr<const Principal> Gateway::holder_of(std::string_view token, const json::Digest& hash,
                                                    const Access& access) const {
  auto holder = access.principals->find(hash);
  if (!holder && access.tokens && !is_blind()) holder = access.tokens->find(hash, clock_.recent());
  for (auto find = find_principal_.begin(); !holder && find != find_principal_.end(); ++find)
    holder = (*find)(token, hash);
  return holder;
}

std::shared_ptr<const Principal> Gateway::holder_of(std::string_view token) const {
  auto holder = holder_of(token, json::sha256(token), *access_.get());
  if (holder && holder->expires() && holder->has_expired(clock_.wall())) return nullptr;
  return holder;
}

server::Admission Gateway::refuse(const net::Request& request, const char* why) const {
  refusals_.add(net::refused(request, RefusalReason::token, why));
  return std::unexpected(errors::unauthenticated(why));
}

Task<server::Admission> Gateway::admit(const net::Request& request, std::string_view context) const {
  if (auto admitted = admit_now(request, context)) co_return std::move(*admitted);
  auto vouched_for = co_await service_->here().identities().wait(request, context);
  if (!vouched_for) co_return std::unexpected(std::move(vouched_for.error()));
  co_return enter(request, std::move(*vouched_for), context);
}

server::Admission Gateway::enter(const net::Request& request, std::shared_ptr<const Principal> principal,
                                 std::string_view context) const {
  const Access& access = service_->here().access();
  auto caller = access.enter(std::move(principal), context);
  if (!caller) {
    // NOLINTBEGIN(bugprone-use-after-move): it is taken where it is let in only.
    refusals_.add(net::refused(request, RefusalReason::context, caller.error(), principal->name()));
    return std::unexpected(access.no_such_context(*principal));
    // NOLINTEND(bugprone-use-after-move)
  }
  return std::move(*caller);
}

Result<> Gateway::admit_request(const server::Caller& caller) {
  const unsigned own = principal_of(caller).permissions().requests_per_minute();
  if (own == 0 && options_.quotas.requests_per_minute == 0) return {};
  return service_->here().quota(caller.principal).count_request(clock_.recent(), own);
}

Result<std::shared_ptr<void>> Gateway::admit_stream(const server::Caller& caller) {
  auto pass = service_->here().quota(caller.principal).enter_stream();
  if (!pass) return std::unexpected(pass.error());
  return std::make_shared<ConcurrencyLimit::Pass>(std::move(*pass));
}

}  // namespace proteus::gateway
