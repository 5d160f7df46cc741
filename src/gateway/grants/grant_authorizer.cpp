#include "gateway/grants/grant_authorizer.hpp"

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

Task<Result<GrantPointer>> GrantAuthorizer::usable(Vault::Wanted wanted) {
  auto grant = co_await vault_.usable(std::move(wanted));
  note_why(grant ? std::nullopt : std::optional(grant.error()));
  co_return grant;
}

void GrantAuthorizer::note_why(std::optional<Error> why) {
  const std::scoped_lock lock(mutex_);
  missing_.why = std::move(why);
}

GrantAuthorizer::Headers GrantAuthorizer::headers_of(const Grant& grant, std::string_view method,
                                                     const net::Url& url) const {
  Headers headers = grant.headers->headers();
  if (grant.proofs)
    headers.emplace_back("DPoP", grant.proofs->make(method, url, vault_.now(), grant.tokens.access_token));
  return headers;
}

Task<Result<GrantAuthorizer::Headers>> GrantAuthorizer::headers(std::string_view method, const net::Url& url) {
  const auto grant = co_await usable(wanted());
  if (!grant) co_return std::unexpected(grant.error());
  co_return headers_of(**grant, method, url);
}

client::ReadyHeaders::Pointer GrantAuthorizer::headers_now(std::string_view method, const net::Url& url) {
  const auto grant = vault_.usable_now(seeker_->key, seeker_->caller_token);
  if (!grant) return nullptr;
  note_why(std::nullopt);
  // A proof is valid for one request only.
  if (grant->proofs) return std::make_shared<const client::ReadyHeaders>(headers_of(*grant, method, url));
  return grant->headers;
}

Task<Result<bool>> GrantAuthorizer::refused(client::Refusal refusal) {
  const auto grant = vault_.find(seeker_->key);
  if (!grant || grant->state != GrantState::connected) co_return false;
  const auto hints = auth::oauth::read_hints(refusal.challenge);
  const bool has_new_nonce = grant->proofs && grant->proofs->take_nonce(refusal.dpop_nonce);
  // The token was already replaced because of another request.
  if (!was_sent_with(refusal, *grant)) co_return true;
  // RFC 9449, section 9: the proof lacked a nonce or had an old one, and the token is as good as before. Another
  // request may have brought the nonce already. Some servers call such a proof invalid (section 7.1).
  const bool may_be_nonce = hints.error.empty() || hints.error == "invalid_dpop_proof";
  if (grant->proofs && (hints.error == "use_dpop_nonce" || (has_new_nonce && may_be_nonce))) co_return true;
  if (refusal.status == 403) co_return note_scopes(hints, refusal.challenge, *grant);
  {
    const std::scoped_lock lock(mutex_);
    missing_.challenge = refusal.challenge;
  }
  auto another = wanted();
  another.refused = grant->version;
  another.challenge = refusal.challenge;
  const auto better = co_await usable(std::move(another));
  if (!better) co_return std::unexpected(better.error());
  co_return true;
}

void GrantAuthorizer::accepted(std::string_view dpop_nonce) {
  if (dpop_nonce.empty()) return;
  const auto grant = vault_.find(seeker_->key);
  if (grant && grant->proofs) (void)grant->proofs->take_nonce(dpop_nonce);
}

// UPC-10. No refresh grants more scopes than were requested at the sign-in.
Result<bool> GrantAuthorizer::note_scopes(const auth::oauth::ChallengeHints& hints, std::string_view challenge,
                                          const Grant& grant) {
  if (hints.error != "insufficient_scope" || hints.scopes.empty() || grant.is_transient) return false;
  auto wanted = vault_.widen(grant, hints.scopes);
  if (!wanted) {
    note_why(wanted.error());
    return std::unexpected(std::move(wanted.error()));
  }
  const std::scoped_lock lock(mutex_);
  missing_ = {.scopes = std::move(*wanted), .challenge = std::string(challenge)};
  return false;
}

GrantAuthorizer::Missing GrantAuthorizer::take_missing() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(missing_, {});
}

}  // namespace proteus::gateway
