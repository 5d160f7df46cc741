#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <proteus/error.hpp>

// The credentials that a client sends to a server: none, a token, a password, any header, or what it obtains by OAuth.
namespace proteus::client {

struct OAuth;

// Credentials that are sent with every HTTP request, but only to the server's own origin. `open` reads values from the
// environment, and fails if a variable is not set.
class Auth {
 public:
  struct Value {
    std::string text;      // the value itself, or
    std::string variable;  // the environment variable that holds it
  };
  enum class Scheme : std::uint8_t { none, bearer, basic, header, oauth };

  Auth() = default;
  Auth(Scheme scheme, std::string name, Value user, Value secret)
      : scheme_(scheme), name_(std::move(name)), user_(std::move(user)), secret_(std::move(secret)) {}
  Auth(OAuth settings);  // NOLINT(google-explicit-constructor): a builder takes either

  Scheme scheme() const { return scheme_; }
  const std::string& name() const { return name_; }  // of the header
  const Value& user() const { return user_; }
  const Value& secret() const { return secret_; }
  const std::shared_ptr<const OAuth>& oauth() const { return oauth_; }  // null unless the scheme is `oauth`

 private:
  Scheme scheme_ = Scheme::none;
  std::string name_;
  Value user_;
  Value secret_;
  std::shared_ptr<const OAuth> oauth_;
};

struct BearerToken {
  static Auth of(std::string token);
  static Auth from_env(std::string variable);
};
struct BasicAuth {
  static Auth of(std::string user, std::string password);
  static Auth from_env(std::string user_variable, std::string password_variable);
};
// Any other header, such as X-Api-Key.
struct HeaderAuth {
  static Auth of(std::string header, std::string value);
  static Auth from_env(std::string header, std::string variable);
};

// Credentials by OAuth. A server that refuses a request says where its tokens come from; the client discovers the rest,
// signs in, renews the token before it expires, and requests more scopes if the server demands them. `authorize` and
// `assertion` run on the handlers' thread and may block; a request waits for them within its timeout.
struct OAuth {
  enum class Grant : std::uint8_t {
    authorization_code,  // a person signs in: `authorize`, `redirect_uri`
    client_credentials,  // the program itself: `client` with an id, and a secret or key
    jwt_bearer,          // an assertion, such as that of a workload: `assertion`
    identity_assertion,  // a person's ID token, exchanged at their identity provider: `assertion`,
                         // `identity_provider`
  };
  // A client that is registered with the authorization server `issuer`. Its secret is never sent to another one; if
  // `issuer` is empty, it belongs to the first authorization server that the MCP server names.
  struct Client {
    std::string issuer = {};
    std::string id = {};
    Auth::Value secret = {};
    Auth::Value key = {};  // a private key in PEM, instead of a secret
  };

  Grant grant = Grant::authorization_code;
  std::vector<std::string> scopes = {};  // replace the scopes that the server names
  // Without an id, the client identifies itself by its document if the authorization server accepts that, and registers
  // otherwise.
  Client client = {};
  std::string client_document = {};  // https URL of a client metadata document
  std::string client_name = "Proteus";

  // Shows a person this URL in a browser, and returns the URL that the browser was redirected to.
  std::function<Result<std::string>(const std::string& url)> authorize = {};
  std::string redirect_uri = {};

  // Returns an assertion for this issuer, or the ID token. Called for each token.
  std::function<Result<std::string>(const std::string& issuer)> assertion = {};
  Client identity_provider = {};

  // Load and save a sign-in, which must be readable for its owner only because it contains the tokens. `open` calls
  // `load` on the thread that called it; an empty text means that nothing was saved. `save` is called after each
  // change, on the connection's thread, and blocks it, so it must not wait for the server. Both may close the server.
  std::function<std::string()> load = {};
  std::function<void(const std::string& kept)> save = {};
};

// Ends a saved sign-in: revokes its tokens if the authorization server supports that.
Result<> end_sign_in(const std::string& kept, const std::string& ca_file = {});

}  // namespace proteus::client
