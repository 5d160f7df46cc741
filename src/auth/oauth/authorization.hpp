#pragma once

#include <span>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "auth/oauth/client.hpp"
#include "auth/oauth/discovery.hpp"
#include "base/secret.hpp"

// The authorization code grant with PKCE (UPC-03), up to the code.
namespace proteus::auth::oauth {

// What is kept of a sign-in until its callback comes. Plain values, so that it can be sealed and stored.
struct AuthorizationRequest {
  std::string url;  // for the user's browser; http or https, always
  std::string state;
  Secret verifier;         // of PKCE
  std::string nonce = {};  // of OpenID Connect; empty where `openid` was not asked for
  std::string issuer;
  bool expects_issuer = false;  // the server says that it names itself in callbacks
  std::string client_id;
  std::string redirect_uri;
  std::string resource;
  Scopes scopes = {};
};

struct AuthorizationSettings {
  std::string redirect_uri;
  Scopes scopes = {};
  std::string state = {};            // random where it is empty
  std::string dpop_thumbprint = {};  // binds the code to a key (RFC 9449, 10)
};

// Fails where the server has no authorization endpoint that a browser may be sent to, or does not say that it takes
// PKCE with S256.
Result<AuthorizationRequest> begin_authorization(const Discovered& discovered, const Client& client,
                                                 const AuthorizationSettings& settings);

// What came back to the redirect URI.
struct Callback {
  std::string state = {};
  std::string code = {};
  std::string issuer = {};
  bool has_issuer = false;  // `iss` was there, empty or not
  std::string error = {};
  std::string error_description = {};
};
// Of the query of the redirect. Fails where a parameter is there twice or too long.
Result<Callback> read_callback(std::string_view query);

// The code, which may go to the token endpoint of the request's issuer and to no other. Fails with `forbidden` where it
// is not the answer to this request: another state, or another issuer by the four cases of RFC 9207, compared byte by
// byte. Only then is an error of the server looked at, such as access_denied.
Result<Secret> judge_callback(const Callback& callback, const AuthorizationRequest& request);

// PKCE: the challenge of a verifier.
std::string code_challenge(std::string_view verifier);

}  // namespace proteus::auth::oauth
