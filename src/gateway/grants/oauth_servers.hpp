#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "auth/fetch/fetch.hpp"
#include "auth/oauth/discovery.hpp"
#include "base/clock.hpp"
#include "base/environment.hpp"
#include "gateway/grants/grant_servers.hpp"
#include "providers/upstream_settings.hpp"

namespace proteus::gateway {

class Vault;

// The client that an identity provider of the configuration knows us as, for the identity assertion chain.
struct IdentityClient {
  std::string issuer;
  std::string id;
  Secret secret;
};

// Authorization servers of upstreams, by the settings of these. Belongs to the control thread, apart from what is said
// to be thread-safe.
class OauthServers final : public GrantServers {
 public:
  // Everything outlives it.
  OauthServers(auth::Fetch& fetch, const Clock& clock, const Environment& environment)
      : fetch_(fetch), clock_(clock), environment_(environment) {}

  // Thread-safe: the upstreams there are.
  void set_upstreams(const std::vector<providers::UpstreamSettings>& settings);
  // Thread-safe: the identity providers of the configuration.
  void set_identity_clients(std::vector<IdentityClient> clients);
  // Where ID tokens of users are. Before anything is asked.
  void set_vault(const Vault& vault) { vault_ = &vault; }

  Task<Refreshed> refresh(GrantPointer grant) override;
  Task<Result<>> revoke(GrantPointer grant) override;
  Task<Result<std::string>> issuer_now(GrantPointer grant, std::string challenge) override;
  Obtaining obtaining(const GrantTarget& target) const override;
  Task<Result<Grant>> obtain(GrantOwner owner, GrantTarget target, Secret caller_token) override;

  // The client that settings describe; nothing where they name none. Fails where its secret or key cannot be read.
  Result<std::optional<auth::oauth::Client>> configured_client(const providers::OauthSettings& settings) const;

 private:
  using Settings = std::shared_ptr<const providers::UpstreamSettings>;

  Settings find(const GrantTarget& target) const;
  std::vector<IdentityClient> identity_clients() const;
  // With what the settings know of it.
  Result<auth::oauth::Client> complete(const Grant& grant) const;
  Task<Result<auth::oauth::Discovered>> discover(Settings settings);
  Task<Result<Grant>> ask(Settings settings, auth::oauth::Discovered discovered, auth::oauth::Grant asked);
  Task<Result<Grant>> exchange(Settings settings, GrantOwner owner, Secret caller_token);
  Task<Result<Grant>> follow_identity(Settings settings, GrantOwner owner);
  Result<Secret> assertion_for(const providers::OauthSettings& settings,
                               const auth::oauth::Discovered& discovered) const;

  auth::Fetch& fetch_;
  const Clock& clock_;
  const Environment& environment_;
  const Vault* vault_ = nullptr;
  mutable std::mutex mutex_;
  std::map<GrantTarget, Settings> upstreams_;
  std::vector<IdentityClient> identity_clients_;
};

}  // namespace proteus::gateway
