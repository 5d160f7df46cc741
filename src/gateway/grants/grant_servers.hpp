#pragma once

#include <cstdint>
#include <string>

#include <proteus/error.hpp>

#include "base/secrets/secret.hpp"
#include "base/tasks/task.hpp"
#include "gateway/grants/grant.hpp"

namespace proteus::gateway {

// The outcome of a refresh.
struct Refreshed {
  enum class Outcome : std::uint8_t {
    renewed,      // `tokens` are the new ones; if they have no refresh token, the old one stays
    refused,      // the server no longer accepts the grant
    client_gone,  // the server no longer knows the client that was registered dynamically there
    unused,       // the refresh token was not used: nothing was sent, or the server could not serve it
    unknown,      // the refresh token may have been used
  };
  Outcome outcome = Outcome::unused;
  auth::oauth::TokenAnswer tokens = {};
  std::string why = {};  // for people, if the grant was not renewed
};

// How the grants for an upstream are obtained.
enum class Obtaining : std::uint8_t { by_person, by_gateway, by_caller_token };

// How the vault reaches authorization servers. Called on the control thread.
class GrantServers {
 public:
  virtual ~GrantServers() = default;

  virtual Task<Refreshed> refresh(GrantPointer grant) = 0;
  // Revokes a grant (RFC 7009), if it has a token. Fails with `unsupported` if the server does not offer that.
  virtual Task<Result<>> revoke(GrantPointer grant) = 0;

  // Returns the authorization server that a grant's upstream names now, by its challenge or its metadata.
  virtual Task<Result<std::string>> issuer_now(GrantPointer grant, std::string challenge) = 0;

  virtual Obtaining obtaining(const GrantTarget& target) const = 0;
  // Obtains a grant without a person's help. `caller_token` is the caller's own token, if the grant is obtained with
  // it.
  virtual Task<Result<Grant>> obtain(GrantOwner owner, GrantTarget target, Secret caller_token) = 0;
};

}  // namespace proteus::gateway
