#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/secrets/secret.hpp"
#include "base/settings/environment.hpp"
#include "json/binding.hpp"
#include "providers/oauth_settings.hpp"

namespace proteus::providers {

// How Proteus authenticates itself to an upstream. Either names the environment variable that holds the secret, or
// holds the secret itself, if the secret came over the admin API.
struct Authentication {
  enum class Type : std::uint8_t { none, bearer, basic, header, oauth };

  Type type = Type::none;
  std::string token_env;     // bearer
  std::string username;      // basic
  std::string password_env;  // basic
  std::string name;          // header: its name
  std::string value_env;     // header
  OAuthSettings oauth = {};
  Secret token;
  Secret password;
  Secret value;

  bool is_oauth() const { return type == Type::oauth; }
  // Whether each caller has their own credentials.
  bool is_per_caller() const { return is_oauth() && oauth.effective_subject() == OAuthSubject::caller; }

  // Return the environment variable that is needed, and the key that names it; empty for none.
  const std::string& variable() const;
  std::string_view variable_key() const;

  friend bool operator==(const Authentication&, const Authentication&) = default;
};

// The keys of `authentication = { … }`, and the check of the rules among them.
const json::Binding<Authentication>& authentication_binding();
void check_authentication(const Authentication& authentication, const json::Place& place);

// Returns the client secret: the text in the settings, or the value of the environment variable.
Result<Secret> client_secret(const OAuthSettings& settings, const Environment& environment);

// A header to send with each request to the upstream, and to no other server.
struct Credentials {
  std::string header;
  Secret value;
};

// Returns nothing for `none`, and for `oauth`, whose tokens change at runtime. Fails if a variable is not set, or holds
// what no header can; the error names the variable and never its value.
Result<std::optional<Credentials>> credentials(const Authentication& authentication, const Environment& environment);

}  // namespace proteus::providers
