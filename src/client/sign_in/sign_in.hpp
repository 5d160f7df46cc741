#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "auth/oauth/token_request.hpp"

namespace proteus::client {

// The tokens that an authorization server granted to a client, and everything that is needed to use and renew them.
struct SignIn {
  auth::oauth::Discovered at;
  auth::oauth::Client client;
  auth::oauth::TokenAnswer granted;
  auth::oauth::Scopes asked = {};
  std::optional<auth::PrivateKey> dpop_key = std::nullopt;  // the key that the token is bound to
};

inline constexpr std::size_t kMaxSignIn = std::size_t{512} * 1024;

// Writes the sign-in as JSON, including its secrets. Only its owner may be able to read the file.
Secret write_sign_in(const SignIn& sign_in);
Result<SignIn> read_sign_in(std::string_view text);

}  // namespace proteus::client
