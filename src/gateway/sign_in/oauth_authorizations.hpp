#pragma once

#include "auth/fetch/fetch.hpp"
#include "gateway/core/gateway.hpp"
#include "gateway/grants/vault.hpp"
#include "gateway/sign_in/authorizations.hpp"

namespace proteus::gateway {

// Asks authorization servers, from the control thread and by the rules for egress.
class OauthAuthorizations final : public Authorizations {
 public:
  // Everything outlives it.
  struct Dependencies {
    Gateway& gateway;
    Vault& vault;
    const Clock& clock;
  };
  explicit OauthAuthorizations(Dependencies dependencies);

  Task<Result<PlanPointer>> plan(Ticket ticket, Registration registration) override;
  Task<Result<PlanPointer>> plan_identity(std::string issuer, std::string resource) override;
  Task<Result<auth::oauth::TokenAnswer>> redeem(PlanPointer plan, auth::oauth::AuthorizationRequest request,
                                                Secret code) override;

 private:
  // On the control thread.
  Task<Result<PlanPointer>> plan_there(Ticket ticket, Registration registration);
  Task<Result<PlanPointer>> plan_identity_there(std::string issuer, std::string resource);
  Task<Result<auth::oauth::TokenAnswer>> redeem_there(PlanPointer plan, auth::oauth::AuthorizationRequest request,
                                                      Secret code);
  // What the upstream says to somebody without a token.
  Task<std::string> challenge_of(net::Url endpoint);
  Task<Result<std::optional<auth::oauth::Client>>> client_for(const auth::oauth::Discovered& discovered,
                                                              const providers::OauthSettings& settings,
                                                              std::string redirect_uri, Registration registration);

  const Dependencies dependencies_;
  auth::Fetch& fetch_;
};

}  // namespace proteus::gateway
