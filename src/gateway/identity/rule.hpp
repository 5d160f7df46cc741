#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "auth/tokens/claims.hpp"
#include "catalog/contexts/disclosure.hpp"
#include "json/binding.hpp"

namespace proteus::gateway {

// What an operator may do.
enum class AdminRole : std::uint8_t { none, viewer, admin };

std::string_view to_string(AdminRole role);

// Turns claims into a principal: whom the rule fits, and what they may use.
struct Rule {
  // Patterns by claim: one value of each claim must fit one of its patterns. A claim may be nested:
  // "realm_access.roles". `issuer` is `iss`.
  std::map<std::string, std::vector<std::string>> match = {};
  std::string name = "{sub}";  // for logs and audits; claims are in braces
  std::vector<std::string> upstreams = {"*"};
  std::vector<std::string> tools = {"*"};
  std::vector<std::string> deny = {};
  bool read_only = false;
  std::vector<std::string> contexts = {"*"};
  AdminRole admin = AdminRole::none;
  unsigned requests_per_minute = 0;
  catalog::Disclosure disclosure = catalog::Disclosure::all;

  friend bool operator==(const Rule&, const Rule&) = default;
};

const json::Binding<Rule>& rule_binding();

bool fits(const Rule& rule, const auth::Claims& claims);
// Returns why a rule does not fit, naming the first claim that fails; nothing if the rule fits. For operators.
std::optional<std::string> why_not(const Rule& rule, const auth::Claims& claims);
// Returns the first rule that fits; null if none does.
const Rule* first_that_fits(std::span<const Rule> rules, const auth::Claims& claims);
// Returns the name of the principal: one visible line, whatever the claims contain.
std::string name_of(const Rule& rule, const auth::Claims& claims);

}  // namespace proteus::gateway
