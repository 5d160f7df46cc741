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

// Makes a principal of claims: whom it fits, and what they may use.
struct Rule {
  // By claim, patterns of which one value must fit one. A claim may be nested: "realm_access.roles". `issuer` is `iss`.
  std::map<std::string, std::vector<std::string>> match = {};
  std::string name = "{sub}";  // for logs and audits; claims stand in braces
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
// Why it does not fit, naming the first claim; nothing where it does. For operators.
std::optional<std::string> why_not(const Rule& rule, const auth::Claims& claims);
// The first that fits; null where none does.
const Rule* first_that_fits(std::span<const Rule> rules, const auth::Claims& claims);
// One line, however strange the claims are.
std::string name_of(const Rule& rule, const auth::Claims& claims);

}  // namespace proteus::gateway
