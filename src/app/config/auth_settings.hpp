#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "admin/http/keys.hpp"
#include "app/config/identity_settings.hpp"
#include "base/clock.hpp"
#include "base/secrets/secret.hpp"
#include "catalog/contexts/disclosure.hpp"
#include "json/binding.hpp"

// [auth] and [admin]: who may call, and who may administer.
namespace proteus::app {

// A static token, and what its principal may use.
struct TokenSettings {
  std::string name;
  std::string token_env;                      // this or `token_file`
  std::string token_file;                     // this or `token_env`
  std::vector<std::string> contexts = {"*"};  // "*" for all; "" is plain /mcp
  std::vector<std::string> upstreams = {"*"};
  std::vector<std::string> tools = {"*"};  // patterns of entries it may use
  std::vector<std::string> deny;           // patterns of entries it may not use
  bool read_only = false;
  unsigned requests_per_minute = 0;  // 0: only `limits.requests_per_minute` applies
  std::optional<Clock::Wall> expires;
  catalog::Disclosure disclosure = catalog::Disclosure::all;
  Secret token;  // content of the variable or file; not a key

  friend bool operator==(const TokenSettings&, const TokenSettings&) = default;
};

enum class Anonymous : std::uint8_t { loopback, never, always };

struct AuthSettings {
  std::optional<Anonymous> anonymous;  // unset: loopback without issuers, never with issuers
  std::vector<TokenSettings> tokens;
  std::vector<IssuerSettings> issuers;
  std::vector<gateway::Rule> rules;

  Anonymous admitted_anonymous() const {
    return anonymous.value_or(issuers.empty() ? Anonymous::loopback : Anonymous::never);
  }

  friend bool operator==(const AuthSettings&, const AuthSettings&) = default;
};

// A key for the admin API, in addition to the admin secret. The audit records its name.
struct AdminKey {
  std::string name;
  std::string secret_env;   // this or `secret_file`
  std::string secret_file;  // this or `secret_env`
  admin::Role role = admin::Role::admin;
  Secret secret;  // content of the variable or file; not a key

  friend bool operator==(const AdminKey&, const AdminKey&) = default;
};

struct AdminSettings {
  std::vector<AdminKey> keys;
  std::vector<std::string> environment;  // variables that the API may name for any upstream
  bool commands = true;                  // whether the API may register programs

  friend bool operator==(const AdminSettings&, const AdminSettings&) = default;
};

const json::Binding<AuthSettings>& auth_binding();
const json::Binding<AdminSettings>& admin_binding();

}  // namespace proteus::app
