#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "auth/fetch/fetch.hpp"
#include "base/tasks/async_mutex.hpp"
#include "gateway/core/gateway.hpp"
#include "gateway/grants/vault.hpp"
#include "gateway/sign_in/authorizations.hpp"

namespace proteus::gateway {

// Sends requests to authorization servers, on the control thread and subject to the egress rules.
class OAuthAuthorizations final : public Authorizations {
 public:
  // All references must outlive this object.
  struct Dependencies {
    Gateway& gateway;
    Vault& vault;
    const Clock& clock;
  };
  // A server that does not know our client sends nobody back, so only their absence tells. After so many people in a
  // row who did not come back, the next one is sent with a newly registered client, if the server registers one.
  static constexpr unsigned kMostLost = 3;

  explicit OAuthAuthorizations(Dependencies dependencies);

  Task<Result<PlanPointer>> plan(Ticket ticket, Registration registration) override;
  Task<Result<PlanPointer>> plan_identity(std::string issuer, std::string resource) override;
  Task<> came_back(PlanPointer plan, std::string error) override;
  Task<Result<auth::oauth::TokenAnswer>> redeem(PlanPointer plan, auth::oauth::AuthorizationRequest request,
                                                Secret code) override;

 private:
  // These run on the control thread.
  Task<Result<PlanPointer>> plan_there(Ticket ticket, Registration registration);
  Task<> came_back_there(PlanPointer plan, std::string error);
  // Returns what is known of an identity provider. Anybody can cause this, so it is discovered at most once at a time
  // and kept for a moment.
  Task<Result<auth::oauth::Discovered>> identity_provider(std::string issuer);
  // Counts one more person who leaves with this client. Returns how many in a row have left and are not back.
  unsigned leaves(const auth::oauth::Client& client);
  // Counts one more person, as `leaves` does. Returns whether to register another client in place of this one.
  bool is_lost(const auth::oauth::Client& client);
  Task<Result<PlanPointer>> plan_identity_there(std::string issuer, std::string resource);
  Task<Result<auth::oauth::TokenAnswer>> redeem_there(PlanPointer plan, auth::oauth::AuthorizationRequest request,
                                                      Secret code);
  // Returns the upstream's WWW-Authenticate challenge to a request without a token; empty if there is none.
  Task<std::string> challenge_of(net::Url endpoint);
  Task<Result<auth::oauth::Client>> register_client(auth::oauth::Discovered discovered,
                                                    auth::oauth::ClientSources sources, std::string redirect_uri);
  Task<Result<std::optional<auth::oauth::Client>>> client_for(const auth::oauth::Discovered& discovered,
                                                              const providers::OAuthSettings& settings,
                                                              std::string redirect_uri, Registration registration);

  const Dependencies dependencies_;
  auth::Fetch& fetch_;

  // These members belong to the control thread.
  struct Provider {
    explicit Provider(const Executor& thread) : discovering(thread) {}
    AsyncMutex discovering;
    std::optional<Result<auth::oauth::Discovered>> found;
    Clock::Monotonic until{};
  };
  std::map<std::string, Provider> providers_;  // by issuer
  // By registered client: how many people in a row have left for its server and are not back.
  std::map<std::pair<std::string, std::string>, unsigned> away_;
};

}  // namespace proteus::gateway
