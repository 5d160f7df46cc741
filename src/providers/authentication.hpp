#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/environment.hpp"
#include "base/secret.hpp"
#include "json/binding.hpp"
#include "providers/oauth_settings.hpp"

namespace proteus::providers {

// How Proteus makes itself known to an upstream. Either names the environment variable that holds the secret, or, where
// it came over the admin API, holds the secret itself.
struct Authentication {
  enum class Type : std::uint8_t { none, bearer, basic, header, oauth };

  Type type = Type::none;
  std::string token_env;     // bearer
  std::string username;      // basic
  std::string password_env;  // basic
  std::string name;          // header: which one
  std::string value_env;     // header
  OauthSettings oauth = {};
  Secret token;
  Secret password;
  Secret value;

  bool is_oauth() const { return type == Type::oauth; }
  // Whether each caller has credentials of their own.
  bool is_per_caller() const { return is_oauth() && oauth.effective_subject() == OauthSubject::caller; }

  // The environment variable that is needed, and the key that names it; empty for none.
  const std::string& variable() const;
  std::string_view variable_key() const;

  friend bool operator==(const Authentication&, const Authentication&) = default;
};

// The keys of `authentication = { … }`, and what must hold among them.
const json::Binding<Authentication>& authentication_binding();
void check_authentication(const Authentication& authentication, const json::Place& place);

// What a client secret is: the text itself, or that of the variable.
Result<Secret> client_secret(const OauthSettings& settings, const Environment& environment);

// A header to send with each request to the upstream, and to nobody else.
struct Credentials {
  std::string header;
  Secret value;
};

// Nothing for `none`, and for `oauth`, whose tokens come and go. A variable that is not set, or holds what no header
// can, is an error that names it and never its value.
Result<std::optional<Credentials>> credentials(const Authentication& authentication, const Environment& environment);

}  // namespace proteus::providers
