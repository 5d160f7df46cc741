#pragma once

#include <cstdint>
#include <string>

#include <proteus/error.hpp>

#include "base/secret.hpp"
#include "base/task.hpp"
#include "gateway/grants/grant.hpp"

namespace proteus::gateway {

// What a refresh came to.
struct Refreshed {
  enum class Outcome : std::uint8_t {
    renewed,  // `tokens` are the new ones; without a refresh token the old one stays
    refused,  // the server does not know the grant any more
    unused,   // the refresh token was not used: nothing was sent, or the server could not serve it
    unknown,  // it may have been used
  };
  Outcome outcome = Outcome::unused;
  auth::oauth::TokenAnswer tokens = {};
  std::string why = {};  // for people, where it was not renewed
};

// Where grants for an upstream come from.
enum class Obtaining : std::uint8_t { by_person, by_gateway, by_caller_token };

// How the vault reaches authorization servers. Called on the control thread.
class GrantServers {
 public:
  virtual ~GrantServers() = default;

  virtual Task<Refreshed> refresh(GrantPointer grant) = 0;
  // Where the server offers it (RFC 7009); `unsupported` where not.
  virtual Task<Result<>> revoke(GrantPointer grant) = 0;

  // The authorization server that the upstream of a grant names now, by its challenge or its metadata.
  virtual Task<Result<std::string>> issuer_now(GrantPointer grant, std::string challenge) = 0;

  virtual Obtaining obtaining(const GrantTarget& target) const = 0;
  // Obtains one without a person's help. `caller_token` is what the caller came with, and there where it is needed.
  virtual Task<Result<Grant>> obtain(GrantOwner owner, GrantTarget target, Secret caller_token) = 0;
};

}  // namespace proteus::gateway
