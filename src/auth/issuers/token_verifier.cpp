#include "auth/issuers/token_verifier.hpp"

#include <algorithm>
#include <utility>

#include "auth/tokens/dpop.hpp"
#include "auth/tokens/jwt.hpp"

namespace proteus::auth {
namespace {

Refusal refusal_of(const Error& error) {
  return error.kind() == ErrorKind::unauthenticated ? refusals::expired(error.message())
                                                    : refusals::malformed(error.message());
}

// Returns the issuer that an unverified token names; empty if it names none.
std::string_view issuer_in(const Jwt& token) {
  const auto* issuer = token.payload().if_contains("iss");
  return issuer == nullptr || !issuer->is_string() ? std::string_view() : std::string_view(issuer->get_string());
}

}  // namespace

// An issuer, with everything that is known about it. Immutable, except for the objects behind its pointers.
struct TokenVerifier::Issuer {
  IssuerSettings settings;
  std::shared_ptr<IssuerKeys> keys;
  std::shared_ptr<Introspection> introspection;  // null: opaque tokens are not introspected
};

TokenVerifier::TokenVerifier(const Executor& home, net::HttpClient& http, const Clock& clock,
                             std::vector<IssuerSettings> issuers)
    : home_(std::make_shared<IssuerHome>(home, http, clock)),
      issuers_(std::make_shared<const std::vector<IssuerPointer>>()) {
  set_issuers(std::move(issuers));
}

TokenVerifier::~TokenVerifier() = default;

TokenVerifier::IssuerPointer TokenVerifier::make(IssuerSettings settings) const {
  auto documents = std::make_shared<IssuerDocuments>(home_, settings);
  auto keys = std::make_shared<IssuerKeys>(home_, documents, settings.issuer);
  auto introspection =
      settings.introspection.are_given() ? std::make_shared<Introspection>(home_, documents, settings.issuer) : nullptr;
  return std::make_shared<const Issuer>(std::move(settings), std::move(keys), std::move(introspection));
}

void TokenVerifier::set_issuers(std::vector<IssuerSettings> issuers) {
  const auto before = issuers_.get();
  auto after = std::make_shared<std::vector<IssuerPointer>>();
  for (IssuerSettings& settings : issuers) {
    const auto is_same = [&](const IssuerPointer& issuer) { return issuer->settings == settings; };
    const auto kept = std::ranges::find_if(*before, is_same);
    after->push_back(kept == before->end() ? make(std::move(settings)) : *kept);
  }
  issuers_.set(std::move(after));
}

bool TokenVerifier::has_issuers() const { return !issuers_.get()->empty(); }

void TokenVerifier::fetch_ahead() {
  for (const IssuerPointer& issuer : *issuers_.get())
    issuer->keys->refresh_if_old();
}

void TokenVerifier::sweep() {
  for (const IssuerPointer& issuer : *issuers_.get()) {
    if (issuer->introspection) issuer->introspection->sweep();
  }
}

Task<> TokenVerifier::close() {
  home_->is_closed = true;
  home_->tasks.cancel();
  co_await home_->tasks.join();
}

TokenVerifier::IssuerPointer TokenVerifier::issuer_of(const Issuers& issuers, std::string_view name) {
  const auto found = std::ranges::find_if(*issuers, [&](const auto& one) { return one->settings.issuer == name; });
  return found == issuers->end() ? nullptr : *found;
}

bool TokenVerifier::names_issuer(std::string_view token) const {
  return issuer_of(issuers(), Jwt::claimed_issuer(token)) != nullptr;
}

Task<TokenVerifier::Verdict> TokenVerifier::verify(Issuers issuers, Secret token) {
  if (token.reveal().size() > Jwt::kMaxBytes) {
    co_return std::unexpected(refusals::malformed(errors::too_large("a token", Jwt::kMaxBytes).message()));
  }
  if (Jwt::is_meant(token.reveal())) co_return co_await verify_jwt(std::move(issuers), std::move(token));
  co_return co_await verify_opaque(std::move(issuers), std::move(token));
}

Task<TokenVerifier::Verdict> TokenVerifier::verify_jwt(Issuers issuers, Secret token) {
  const auto read = Jwt::parse(token.reveal());
  if (!read) co_return std::unexpected(refusals::malformed(read.error().message()));
  const auto issuer = issuer_of(issuers, issuer_in(*read));
  if (!issuer) co_return std::unexpected(refusals::unknown_issuer("the token names no issuer that is configured"));
  const IssuerSettings& settings = issuer->settings;
  auto claims = Claims::read(read->payload());
  if (!claims) co_return std::unexpected(refusals::malformed(claims.error().message()));
  // Checks that need no key come first, so that no issuer is asked because of a token that is useless anyway.
  if (auto kind = check_is_access_token(*read); !kind)
    co_return std::unexpected(refusals::malformed(kind.error().message()));
  const Clock::Wall now = home_->clock.wall();
  if (auto sound = check_claims(*claims, settings.issuer, now, settings.leeway); !sound)
    co_return std::unexpected(refusal_of(sound.error()));

  issuer->keys->refresh_if_old();
  KeysPointer keys = issuer->keys->known();
  Result<> is_signed = keys ? check_signature(*read, *keys, settings.algorithms)
                            : std::unexpected(errors::not_found("no keys of the issuer are known yet"));
  if (!is_signed && is_signed.error().kind() == ErrorKind::not_found) {
    auto newer = co_await IssuerKeys::fetch(issuer->keys, keys);
    if (newer) {
      is_signed = check_signature(*read, **newer, settings.algorithms);
    } else if (!keys) {
      co_return std::unexpected(refusals::unavailable(
          "the keys of " + settings.issuer + " are not known: " + newer.error().message(), IssuerKeys::kInterval));
    }
  }
  if (!is_signed) co_return std::unexpected(refusals::bad_signature(is_signed.error().message()));
  const Clock::Wall end = *claims->expires() + settings.leeway;
  co_return identify(*issuer, std::move(*claims), end);
}

Task<TokenVerifier::Verdict> TokenVerifier::verify_opaque(Issuers issuers, Secret token) {
  const auto found = std::ranges::find_if(*issuers, [](const auto& one) { return one->introspection != nullptr; });
  if (found == issuers->end())
    co_return std::unexpected(
        refusals::malformed("the token is opaque, and no issuer is configured for introspection"));
  const IssuerPointer& issuer = *found;
  const auto answer = co_await Introspection::ask(issuer->introspection, std::move(token));
  if (!answer) {
    co_return std::unexpected(
        refusals::unavailable("the introspection failed: " + answer.error().message(), IssuerDocuments::kRetryAfter));
  }
  if (!answer->claims) co_return std::unexpected(refusals::inactive("the issuer says that the token is not active"));
  const Claims& claims = *answer->claims;
  const Clock::Wall now = home_->clock.wall();
  if (claims.issuer() != issuer->settings.issuer)
    co_return std::unexpected(refusals::unknown_issuer("the introspected token is of another issuer"));
  if (claims.subject().empty())
    co_return std::unexpected(refusals::malformed("the introspection names neither a subject nor a client"));
  if (auto sound = check_times(claims, now, issuer->settings.leeway); !sound)
    co_return std::unexpected(refusals::expired(sound.error().message()));
  co_return identify(*issuer, claims, answer->until);
}

TokenVerifier::Verdict TokenVerifier::identify(const Issuer& issuer, Claims claims, Clock::Wall usable_until) {
  const IssuerSettings& settings = issuer.settings;
  const bool is_bound = !claims.key_thumbprint().empty();
  if (!is_bound && settings.dpop == Dpop::require)
    return std::unexpected(refusals::needs_proof("the issuer's settings require tokens that are bound to a key"));
  const bool has_configured = is_for(claims, settings.audiences);
  if (!settings.audiences.empty() && !has_configured)
    return std::unexpected(refusals::other_audience("none of the token's audiences is configured for its issuer"));
  auto scopes = with_implied(claims.scopes(), settings.implies);
  const Clock::Wall expires = claims.expires() ? *claims.expires() + settings.leeway : usable_until;
  std::string thumbprint = claims.key_thumbprint();
  return std::make_shared<const Identity>(Identity{.claims = std::move(claims),
                                                   .scopes = std::move(scopes),
                                                   .expires = expires,
                                                   .usable_until = usable_until,
                                                   .thumbprint = std::move(thumbprint),
                                                   .has_configured_audience = has_configured,
                                                   .dpop = settings.dpop});
}

std::expected<void, Refusal> TokenVerifier::check_use(const Identity& identity, const TokenUse& use) {
  const Clock::Wall now = home_->clock.wall();
  if (identity.expires <= now) return std::unexpected(refusals::expired("the token has expired"));
  if (!identity.has_configured_audience && !is_for(identity.claims, use.audiences))
    return std::unexpected(refusals::other_audience("the token is for another resource"));
  const bool is_bound = !identity.thumbprint.empty();
  if (!is_bound) {
    if (use.scheme == Scheme::bearer) return {};
    return std::unexpected(refusals::needs_proof("the token was sent as DPoP and is not bound to a key"));
  }
  // RFC 9449, section 7.2: otherwise a thief could use the token as if it were not bound.
  if (use.scheme == Scheme::bearer)
    return std::unexpected(refusals::needs_proof("the token is bound to a key and was sent as plain Bearer"));
  if (identity.dpop == Dpop::off)
    return std::unexpected(refusals::needs_proof("the token is bound to a key, and DPoP is off for its issuer"));
  if (use.proof.empty()) return std::unexpected(refusals::bad_proof("there is no proof, or more than one"));
  const auto proof = check_proof(
      use.proof,
      {.method = use.method, .url = use.url, .token = use.token, .thumbprint = identity.thumbprint, .now = now});
  if (!proof) return std::unexpected(refusals::bad_proof(proof.error().message()));
  if (auto fresh = proofs_.use(*proof, home_->clock.now()); !fresh) {
    if (fresh.error().kind() == ErrorKind::exhausted)
      return std::unexpected(refusals::unavailable(fresh.error().message(), std::chrono::seconds(60)));
    return std::unexpected(refusals::bad_proof(fresh.error().message()));
  }
  return {};
}

std::vector<TokenVerifier::Status> TokenVerifier::status() const {
  std::vector<Status> all;
  for (const IssuerPointer& issuer : *issuers_.get())
    all.push_back({issuer->settings.issuer, issuer->keys->status()});
  return all;
}

}  // namespace proteus::auth
