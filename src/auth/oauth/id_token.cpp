#include "auth/oauth/id_token.hpp"

#include "auth/tokens/jwt.hpp"

namespace proteus::auth::oauth {
namespace {

constexpr std::chrono::seconds kClockDifference{60};

}  // namespace

Result<Claims> judge_id_token(const Secret& id_token, const AuthorizationRequest& request, Clock::Wall now) {
  const auto token = Jwt::parse(id_token.reveal());
  if (!token) return std::unexpected(Error(token.error()).within("the ID token"));
  auto claims = Claims::read(token->payload());
  if (!claims) return std::unexpected(std::move(claims.error()).within("the ID token"));
  if (auto checked = check_claims(*claims, request.issuer, now, kClockDifference); !checked)
    return std::unexpected(std::move(checked.error()).within("the ID token"));
  if (!is_for(*claims, {&request.client_id, 1}))
    return std::unexpected(errors::unauthenticated("the ID token is for another client"));
  const auto nonce = claims->values("nonce");
  if (!request.nonce.empty() && (nonce.size() != 1 || nonce.front() != request.nonce))
    return std::unexpected(errors::unauthenticated("the ID token is of another sign-in"));
  return claims;
}

}  // namespace proteus::auth::oauth
