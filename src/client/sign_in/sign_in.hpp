#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "auth/oauth/token_request.hpp"

namespace proteus::client {

// What was granted, where, and to which client: all that is needed to use and renew it.
struct SignIn {
  auth::oauth::Discovered at;
  auth::oauth::Client client;
  auth::oauth::TokenAnswer granted;
  auth::oauth::Scopes asked = {};
  std::optional<auth::PrivateKey> dpop_key = std::nullopt;  // that the token is bound to
};

inline constexpr std::size_t kMaxSignIn = std::size_t{512} * 1024;

// As JSON, with everything secret in it: for a file of its owner's alone.
Secret write_sign_in(const SignIn& sign_in);
Result<SignIn> read_sign_in(std::string_view text);

}  // namespace proteus::client
