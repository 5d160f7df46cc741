#include "gateway/grants/grant_authorizer.hpp"

#include "auth/oauth/discovery.hpp"
#include "gateway/grants/proofs.hpp"

namespace proteus::gateway {
namespace {

bool was_sent_with(const client::Refusal& refusal, const Grant& grant) {
  for (const auto& [name, value] : refusal.sent) {
    if (name == "Authorization") return value == grant.authorization();
  }
  return false;
}

}  // namespace

Vault::Wanted GrantAuthorizer::wanted() const {
  return {.owner = seeker_->key.owner(), .target = seeker_->key.target(), .caller_token = seeker_->caller_token};
}

GrantAuthorizer::Headers GrantAuthorizer::headers_of(const Grant& grant, std::string_view method,
                                                     const net::Url& url) const {
  Headers headers = grant.headers->headers();
  if (grant.proofs)
    headers.emplace_back("DPoP", grant.proofs->make(method, url, vault_.now(), grant.tokens.access_token));
  return headers;
}

Task<Result<GrantAuthorizer::Headers>> GrantAuthorizer::headers(std::string_view method, const net::Url& url) {
  const auto grant = co_await vault_.usable(wanted());
  if (!grant) co_return std::unexpected(grant.error());
  co_return headers_of(**grant, method, url);
}

client::ReadyHeaders::Pointer GrantAuthorizer::headers_now(std::string_view method, const net::Url& url) {
  const auto grant = vault_.usable_now(seeker_->key, seeker_->caller_token);
  if (!grant) return nullptr;
  // A proof is good for one request.
  if (grant->proofs) return std::make_shared<const client::ReadyHeaders>(headers_of(*grant, method, url));
  return grant->headers;
}

Task<Result<bool>> GrantAuthorizer::refused(client::Refusal refusal) {
  const auto grant = vault_.find(seeker_->key);
  if (!grant || grant->state != GrantState::connected) co_return false;
  // Another request has seen to it.
  if (!was_sent_with(refusal, *grant)) co_return true;
  // The proof lacked a nonce, or had an old one.
  if (grant->proofs && grant->proofs->take_nonce(refusal.dpop_nonce)) co_return true;
  if (refusal.status == 403) co_return note_scopes(refusal, *grant);
  {
    const std::scoped_lock lock(mutex_);
    missing_.challenge = refusal.challenge;
  }
  auto another = wanted();
  another.refused = grant->version;
  another.challenge = refusal.challenge;
  const auto better = co_await vault_.usable(std::move(another));
  if (!better) co_return std::unexpected(better.error());
  co_return true;
}

void GrantAuthorizer::accepted(std::string_view dpop_nonce) {
  if (dpop_nonce.empty()) return;
  const auto grant = vault_.find(seeker_->key);
  if (grant && grant->proofs) (void)grant->proofs->take_nonce(dpop_nonce);
}

// UPC-10. No refresh gives more than was asked for once.
Result<bool> GrantAuthorizer::note_scopes(const client::Refusal& refusal, const Grant& grant) {
  const auto hints = auth::oauth::read_hints(refusal.challenge);
  if (hints.error != "insufficient_scope" || hints.scopes.empty() || grant.is_transient) return false;
  auto wanted = vault_.widen(grant, hints.scopes);
  if (!wanted) return std::unexpected(std::move(wanted.error()));
  const std::scoped_lock lock(mutex_);
  missing_ = {.scopes = std::move(*wanted), .challenge = std::string(refusal.challenge)};
  return false;
}

GrantAuthorizer::Missing GrantAuthorizer::take_missing() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(missing_, {});
}

}  // namespace proteus::gateway
