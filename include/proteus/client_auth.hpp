#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <proteus/error.hpp>

// What a client shows a server: nothing, a token, a password, any header, or what it gets by OAuth.
namespace proteus::client {

struct OAuth;

// What is sent with every HTTP request, to the server's own origin only. Values from the environment are read
// by `open`, which fails where the variable is not set.
class Auth {
 public:
  struct Value {
    std::string text;      // itself, or
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
  const std::shared_ptr<const OAuth>& oauth() const { return oauth_; }  // null but for that scheme

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

// Credentials by OAuth. A server that refuses says where its tokens come from; the client finds out the rest, signs in,
// renews the token before it ends, and asks for more scopes where the server wants them. Functions run on the handlers'
// thread and may block; a request waits for them within its timeout.
struct OAuth {
  enum class Grant : std::uint8_t {
    authorization_code,  // a person signs in: `authorize`, `redirect_uri`
    client_credentials,  // the program itself: `client_id`, and a secret or key
    jwt_bearer,          // an assertion, such as that of a workload: `assertion`
    identity_assertion,  // the ID token of a person, by way of their identity provider: `assertion`,
                         // `identity_provider`
  };
  // A client that is registered with an authorization server, which its `issuer` names. A secret is never shown to
  // another; where `issuer` is empty, that is the first one that the server names.
  struct Client {
    std::string issuer = {};
    std::string id = {};
    Auth::Value secret = {};
    Auth::Value key = {};  // private, in PEM, instead of a secret
  };

  Grant grant = Grant::authorization_code;
  std::vector<std::string> scopes = {};  // instead of those that the server names
  // Without an id, one is made: by the document, where the authorization server takes that, or by registering.
  Client client = {};
  std::string client_document = {};  // https URL of a client metadata document
  std::string client_name = "Proteus";

  // Shows a person this URL in a browser, and returns the URL that the browser was redirected to.
  std::function<Result<std::string>(const std::string& url)> authorize = {};
  std::string redirect_uri = {};

  // An assertion for this issuer, or the ID token; called for each token.
  std::function<Result<std::string>(const std::string& issuer)> assertion = {};
  Client identity_provider = {};

  // What to keep of a sign-in, for its owner alone: it holds the tokens. `load` is called once, by `open`; nothing
  // where none was kept. `save` is called whenever it is another.
  std::function<std::string()> load = {};
  std::function<void(const std::string& kept)> save = {};
};

// Ends a sign-in that was kept: its tokens are revoked, where the authorization server offers that.
Result<> end_sign_in(const std::string& kept, const std::string& ca_file = {});

}  // namespace proteus::client
