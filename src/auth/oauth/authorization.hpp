#pragma once

#include <span>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "auth/oauth/client.hpp"
#include "auth/oauth/discovery.hpp"
#include "base/secrets/secret.hpp"

// The authorization code grant with PKCE (UPC-03), up to the code.
namespace proteus::auth::oauth {

// The state of a sign-in until its callback arrives. Plain values, so that it can be sealed and stored.
struct AuthorizationRequest {
  std::string url;  // for the user's browser; always http or https
  std::string state;
  Secret verifier;         // of PKCE
  std::string nonce = {};  // of OpenID Connect; empty unless `openid` is requested
  std::string issuer;
  bool expects_issuer = false;  // the server states that it names itself in callbacks
  std::string client_id;
  std::string redirect_uri;
  std::string resource;
  Scopes scopes = {};
};

struct AuthorizationSettings {
  std::string redirect_uri;
  Scopes scopes = {};
  std::string state = {};            // random if empty
  std::string dpop_thumbprint = {};  // binds the code to a key (RFC 9449, section 10)
};

// Fails if the client belongs to another issuer, or if the server has no authorization endpoint that a browser may be
// sent to or does not state that it supports PKCE with S256.
Result<AuthorizationRequest> begin_authorization(const Discovered& discovered, const Client& client,
                                                 const AuthorizationSettings& settings);

// The parameters that arrive at the redirect URI.
struct Callback {
  std::string state = {};
  std::string code = {};
  std::string issuer = {};
  bool has_issuer = false;  // `iss` was present, even if empty
  std::string error = {};
  std::string error_description = {};
};
// Reads the query of the redirect. Fails if a parameter is repeated or too long.
Result<Callback> read_callback(std::string_view query);

// Fails with `forbidden` if the callback does not answer this request: another state, or another issuer by the four
// cases of RFC 9207, compared byte by byte.
Result<> check_sender(const Callback& callback, const AuthorizationRequest& request);
// Returns the code, which may go only to the token endpoint of the request's issuer. Fails as `check_sender` does, and
// only then reports an error of the server, such as access_denied.
Result<Secret> judge_callback(const Callback& callback, const AuthorizationRequest& request);

// Returns the PKCE challenge of a verifier.
std::string code_challenge(std::string_view verifier);

}  // namespace proteus::auth::oauth
