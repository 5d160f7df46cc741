#include "gateway/identity/identity_reader.hpp"

namespace proteus::gateway {

std::optional<IdentityReader::Found> IdentityReader::look(const net::Request& request, std::string_view context) {
  const Credentials given = credentials_of(request);
  if (given.token.empty())
    return std::unexpected(identities_.unknown(*settings_, request, settings_->resources.endpoint(context)));
  TokenHash& hash = TokenHash::on_connection_of(request);
  Known* const known = known_.find(hash.of(given.token), identities_.clock_.wall());
  if (known == nullptr || known->generation != settings_->generation) return std::nullopt;
  hash.keep(given.token);
  return use(*known, given, request, context);
}

Task<IdentityReader::Found> IdentityReader::wait(const net::Request& request, std::string_view context) {
  const Credentials given = credentials_of(request);
  // A reload may come while it waits.
  const auto settings = settings_.get();
  const auto verdict = co_await identities_.verifier_.verify(Secret(std::string(given.token)));
  if (!verdict) {
    co_return std::unexpected(
        identities_.refuse(*settings, request, settings->resources.endpoint(context), verdict.error()));
  }
  auto principal = identities_.make_principal(*settings, **verdict, request);
  if (!principal) co_return std::unexpected(std::move(principal.error()));
  Known known{*verdict, std::move(*principal), settings->generation, {}};
  auto used = use(known, given, request, context);
  if (used) {
    TokenHash& hash = TokenHash::on_connection_of(request);
    known_.keep(hash.of(given.token), std::move(known), (*verdict)->usable_until, identities_.clock_.wall());
    hash.keep(given.token);
  }
  co_return used;
}

IdentityReader::Found IdentityReader::use(Known& known, const Credentials& given, const net::Request& request,
                                          std::string_view context) {
  // Nothing about such a request can differ from the one before.
  const bool is_plain = known.identity->thumbprint.empty() && given.scheme == Credentials::Scheme::bearer;
  if (is_plain && known.context && *known.context == context) return known.principal;
  const Resources& resources = settings_->resources;
  const auto audiences = resources.accepted_at(context);
  const std::string url = resources.gateway() + std::string(request.path());
  auto used = identities_.verifier_.check_use(*known.identity, use_of(given, request, url, audiences));
  if (!used) return std::unexpected(identities_.refuse(*settings_, request, resources.endpoint(context), used.error()));
  known.context = context;
  return known.principal;
}

void IdentityReader::drop_unused() { known_.sweep(identities_.clock_.wall()); }

}  // namespace proteus::gateway
