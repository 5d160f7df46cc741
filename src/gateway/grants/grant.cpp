#include "gateway/grants/grant.hpp"

#include <cstring>

#include <fmt/format.h>

namespace proteus::gateway {

std::optional<GrantOwner> owner_of(const Principal& principal) {
  if (principal.lasting_key().empty()) return std::nullopt;
  return GrantOwner(principal.lasting_key());
}

// No principal's key begins with a zero byte.
const GrantOwner& gateway_owner() {
  static const GrantOwner owner(std::string("\0gateway", 8));
  return owner;
}

GrantTarget target_of(const providers::UpstreamSettings& settings) {
  return GrantTarget(providers::oauth_target(settings));
}

std::string_view url_of(const GrantTarget& target) {
  return std::string_view(target.value()).substr(0, target.value().find('\n'));
}

GrantTarget identity_target(std::string_view issuer) { return GrantTarget(fmt::format("\nidentity\n{}\n", issuer)); }

GrantTarget wanted_target(const providers::UpstreamSettings& settings, std::string_view issuer) {
  const bool by_identity = settings.authentication.oauth.grant == providers::OAuthGrant::identity_assertion;
  return by_identity ? identity_target(issuer) : target_of(settings);
}

bool is_identity(const GrantTarget& target) { return target.value().starts_with("\nidentity\n"); }

GrantKey::GrantKey(GrantOwner owner, GrantTarget target, const Secret& caller_token)
    : owner_(std::move(owner)),
      target_(std::move(target)),
      hash_(std::hash<std::string>{}(owner_.value()) * 31 + std::hash<std::string>{}(target_.value())) {
  if (caller_token.empty()) return;
  token_ = json::sha256(caller_token.reveal());
  std::size_t first = 0;
  std::memcpy(&first, token_.data(), sizeof(first));
  hash_ ^= first;
}

std::string_view to_string(GrantState state) {
  switch (state) {
    case GrantState::none: return "none";
    case GrantState::connected: return "connected";
    case GrantState::needs_sign_in: return "needs sign-in";
  }
  return "none";
}

}  // namespace proteus::gateway
