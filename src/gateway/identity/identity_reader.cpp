#include "gateway/identity/identity_reader.hpp"

#include <chrono>

#include "auth/tokens/jwt.hpp"
#include "base/log/strikes.hpp"

namespace proteus::gateway {

std::optional<IdentityReader::Found> IdentityReader::look(const json::Digest& token, const Credentials& given,
                                                          const net::Request& request, std::string_view context) {
  if (known_.size() == 0) return std::nullopt;
  Known* const known = known_.find(token, identities_.clock_.wall());
  if (known == nullptr || known->generation != settings_->generation) return std::nullopt;
  return use(*known, given, request, context);
}

server::Refusal IdentityReader::challenge(const net::Request& request, std::string_view context) {
  const auto settings = settings_.get();
  return identities_.unknown(*settings, request, settings->resources.endpoint(context));
}

Task<IdentityReader::Found> IdentityReader::wait(const net::Request& request, std::string_view context) {
  const Credentials given = credentials_of(request);
  // Untrusted peers must not make the gateway ask issuers as often as they like.
  Strikes& strikes = TokenHash::on_connection_of(request).strikes();
  const bool is_asked_about = !auth::Jwt::is_meant(given.token);
  for (;;) {
    const auto settings = settings_.get();
    const auto refuse = [&](const auth::Refusal& why) {
      return std::unexpected(identities_.refuse(*settings, request, settings->resources.endpoint(context), why));
    };
    const auto pause = strikes.pause(identities_.clock_.now());
    if (is_asked_about && pause.count() > 0) {
      co_return refuse(auth::refusals::unavailable("too many tokens of this connection were refused",
                                                   std::chrono::ceil<std::chrono::seconds>(pause)));
    }
    const auto verdict = co_await identities_.verifier_.verify(settings->known, Secret(std::string(given.token)));
    // A reload came during the wait.
    if (settings->generation != settings_->generation) continue;
    if (!verdict) {
      const bool is_refused = verdict.error().kind == auth::Refusal::Kind::invalid_token;
      if (is_asked_about && is_refused) strikes.add(identities_.clock_.now());
      co_return refuse(verdict.error());
    }
    auto principal = identities_.make_principal(*settings, **verdict, request);
    if (!principal) co_return std::unexpected(std::move(principal.error()));
    Known known{*verdict, std::move(*principal), settings->generation, {}};
    auto used = use(known, given, request, context);
    if (used) {
      TokenHash& hash = TokenHash::on_connection_of(request);
      known_.keep(hash.of(given.token, request.authorization_number()), std::move(known), (*verdict)->usable_until,
                  identities_.clock_.wall());
      hash.keep(given.token);
    }
    co_return used;
  }
}

IdentityReader::Found IdentityReader::use(Known& known, const Credentials& given, const net::Request& request,
                                          std::string_view context) {
  // Nothing about such a request can differ from the last one that was checked.
  const bool is_plain = known.identity->thumbprint.empty() && given.scheme == Credentials::Scheme::bearer;
  if (is_plain && known.context && *known.context == context) return known.principal;
  const auto settings = settings_.get();
  const Resources& resources = settings->resources;
  const auto audiences = resources.accepted_at(context);
  const std::string url = resources.gateway() + std::string(request.path());
  auto used = identities_.verifier_.check_use(*known.identity, use_of(given, request, url, audiences));
  if (!used) return std::unexpected(identities_.refuse(*settings, request, resources.endpoint(context), used.error()));
  known.context = context;
  return known.principal;
}

void IdentityReader::drop_unused() { known_.sweep(identities_.clock_.wall()); }

}  // namespace proteus::gateway
