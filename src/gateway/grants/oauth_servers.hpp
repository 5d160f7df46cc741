#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "auth/fetch/fetch.hpp"
#include "auth/oauth/discovery.hpp"
#include "base/clock.hpp"
#include "base/settings/environment.hpp"
#include "gateway/grants/grant_servers.hpp"
#include "providers/upstream_settings.hpp"

namespace proteus::gateway {

class Vault;

// The gateway's client at an identity provider of the configuration, for the identity assertion chain.
struct IdentityClient {
  std::string issuer;
  std::string id;
  Secret secret;
};

// The authorization servers of upstreams, by the upstreams' settings. Belongs to the control thread, except for
// functions that are marked thread-safe.
class OAuthServers final : public GrantServers {
 public:
  // All references must outlive it.
  OAuthServers(auth::Fetch& fetch, const Clock& clock, const Environment& environment)
      : fetch_(fetch), clock_(clock), environment_(environment) {}

  // Thread-safe. Sets the upstreams.
  void set_upstreams(const std::vector<providers::UpstreamSettings>& settings);
  // Thread-safe. Sets the clients at the identity providers of the configuration.
  void set_identity_clients(std::vector<IdentityClient> clients);
  // Sets the vault with the ID tokens of users. To be called before anything else.
  void set_vault(const Vault& vault) { vault_ = &vault; }

  Task<Refreshed> refresh(GrantPointer grant) override;
  Task<Result<>> revoke(GrantPointer grant) override;
  Task<Result<std::string>> issuer_now(GrantPointer grant, std::string challenge) override;
  Obtaining obtaining(const GrantTarget& target) const override;
  Task<Result<Grant>> obtain(GrantOwner owner, GrantTarget target, Secret caller_token) override;

  // Returns the client that settings describe; nothing if they name none. Fails if its secret or key cannot be read.
  Result<std::optional<auth::oauth::Client>> configured_client(const providers::OAuthSettings& settings) const;

 private:
  using Settings = std::shared_ptr<const providers::UpstreamSettings>;

  Settings find(const GrantTarget& target) const;
  std::vector<IdentityClient> identity_clients() const;
  // Returns a grant's client, with the secrets from the settings.
  Result<auth::oauth::Client> complete(const Grant& grant) const;
  Task<Result<auth::oauth::Discovered>> discover(Settings settings);
  Task<Result<Grant>> ask(Settings settings, auth::oauth::Discovered discovered, auth::oauth::Grant asked);
  Task<Result<Grant>> exchange(Settings settings, GrantOwner owner, Secret caller_token);
  Task<Result<Grant>> follow_identity(Settings settings, GrantOwner owner);
  Result<Secret> assertion_for(const providers::OAuthSettings& settings,
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
