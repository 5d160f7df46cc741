#include "auth/issuers/settings.hpp"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "net/http/url.hpp"

namespace proteus::auth {

Result<> check_issuer(const IssuerSettings& issuer) {
  const auto url = net::Url::parse(issuer.issuer);
  if (!url) return std::unexpected(errors::invalid("the issuer is not a URL: " + url.error().message()));
  // RFC 8414, 2
  if (issuer.issuer.find_first_of("?#") != std::string::npos)
    return std::unexpected(errors::invalid("an issuer has neither a query nor a fragment"));
  if (!issuer.jwks_url.empty()) {
    if (const auto keys = net::Url::parse(issuer.jwks_url); !keys)
      return std::unexpected(errors::invalid("jwks_url is not a URL: " + keys.error().message()));
  }
  if (issuer.algorithms.empty()) return std::unexpected(errors::invalid("an issuer needs an algorithm"));
  if (issuer.leeway < std::chrono::seconds(0) || issuer.leeway > std::chrono::minutes(10))
    return std::unexpected(errors::invalid("the leeway is more than 10 minutes"));
  return {};
}

Result<> check_issuers(std::span<const IssuerSettings> issuers) {
  std::unordered_set<std::string_view> names;
  for (const IssuerSettings& issuer : issuers) {
    if (auto checked = check_issuer(issuer); !checked) return checked;
    if (!names.insert(issuer.issuer).second)
      return std::unexpected(errors::conflict(fmt::format("the issuer {} is there twice", issuer.issuer)));
  }
  const auto introspects = [](const IssuerSettings& issuer) { return issuer.introspection.are_given(); };
  if (std::ranges::count_if(issuers, introspects) > 1)
    return std::unexpected(
        errors::conflict("only one issuer can have introspection: opaque tokens do not name theirs"));
  return {};
}

std::vector<std::string> with_implied(std::span<const std::string> scopes, const ImpliedScopes& implies) {
  std::vector<std::string> all(scopes.begin(), scopes.end());
  if (implies.empty()) return all;
  std::unordered_set<std::string> seen(scopes.begin(), scopes.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto found = implies.find(all[i]);
    if (found == implies.end()) continue;
    for (const std::string& included : found->second) {
      if (seen.insert(included).second) all.push_back(included);
    }
  }
  return all;
}

}  // namespace proteus::auth
