#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "admin/http/keys.hpp"
#include "app/config/identity_settings.hpp"
#include "base/clock.hpp"
#include "base/secret.hpp"
#include "catalog/contexts/disclosure.hpp"
#include "json/binding.hpp"

// [auth] and [admin]: who may ask.
namespace proteus::app {

// A principal.
struct TokenSettings {
  std::string name;
  std::string token_env;                      // either this
  std::string token_file;                     // or that
  std::vector<std::string> contexts = {"*"};  // "" is the plain /mcp
  std::vector<std::string> upstreams = {"*"};
  std::vector<std::string> tools = {"*"};  // patterns of entries
  std::vector<std::string> deny;           // likewise
  bool read_only = false;
  unsigned requests_per_minute = 0;  // 0: no limit besides that of everybody
  std::optional<Clock::Wall> expires;
  catalog::Disclosure disclosure = catalog::Disclosure::all;
  Secret token;  // what the variable or the file holds; not a key

  friend bool operator==(const TokenSettings&, const TokenSettings&) = default;
};

enum class Anonymous : std::uint8_t { loopback, never, always };

struct AuthSettings {
  std::optional<Anonymous> anonymous;  // loopback where it is not given, and there are no issuers
  std::vector<TokenSettings> tokens;
  std::vector<IssuerSettings> issuers;
  std::vector<gateway::Rule> rules;

  Anonymous admitted_anonymous() const {
    return anonymous.value_or(issuers.empty() ? Anonymous::loopback : Anonymous::never);
  }

  friend bool operator==(const AuthSettings&, const AuthSettings&) = default;
};

// Besides the admin secret; the name goes into the audit.
struct AdminKey {
  std::string name;
  std::string secret_env;   // either this
  std::string secret_file;  // or that
  admin::Role role = admin::Role::admin;
  Secret secret;  // what the variable or the file holds; not a key

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
