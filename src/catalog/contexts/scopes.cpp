#include "catalog/contexts/scopes.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "catalog/definitions/plain_uri.hpp"

namespace proteus::catalog {
namespace {

constexpr std::string_view kOffline = "offline_access";

// Visits each scope once, so that two scopes that imply each other cause no endless loop.
Scopes with_implied(Scopes scopes, const ImpliedScopes& implied) {
  std::set<std::string> all(scopes.begin(), scopes.end());
  while (!scopes.empty()) {
    const auto found = implied.find(scopes.back());
    scopes.pop_back();
    if (found == implied.end()) continue;
    for (const auto& each : found->second) {
      if (all.insert(each).second) scopes.push_back(each);
    }
  }
  return {all.begin(), all.end()};
}

}  // namespace

bool is_scope(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return c > 0x20 && c < 0x7F && c != '"' && c != '\\'; });
}

Scopes scopes_of(std::vector<std::string> written) {
  std::ranges::sort(written);
  const auto doubles = std::ranges::unique(written);
  written.erase(doubles.begin(), doubles.end());
  return written;
}

GrantedScopes::GrantedScopes(std::vector<std::string> granted, const ImpliedScopes& implied)
    : written_(scopes_of(std::move(granted))), all_(with_implied(written_, implied)) {}

bool GrantedScopes::include(std::string_view scope) const { return std::ranges::binary_search(all_, scope); }

Scopes missing_scopes(const Scopes& required, const GrantedScopes& granted) {
  Scopes missing;
  std::ranges::copy_if(required, std::back_inserter(missing),
                       [&](const std::string& scope) { return !granted.include(scope); });
  return missing;
}

Scopes scopes_to_request(const Scopes& required, const GrantedScopes& granted) {
  Scopes all = granted.written();
  all.insert(all.end(), required.begin(), required.end());
  std::erase_if(all, [](const std::string& scope) { return scope == kOffline || !is_scope(scope); });
  return scopes_of(std::move(all));
}

RequiredScopes::RequiredScopes(const std::vector<ScopeRule>& rules) {
  rules_.reserve(rules.size());
  for (const auto& rule : rules)
    rules_.push_back({EntryPatterns(rule.match), rule.scopes});
}

// An ambiguous URI may name an entry of any rule for resources, so it needs the scopes of all of them.
Scopes RequiredScopes::of(Kind kind, std::string_view own) const {
  const bool is_uri = kind == Kind::resource || kind == Kind::resource_template;
  const auto plain = is_uri ? plain_uris(own) : std::vector<std::string>{};
  Scopes all;
  for (const Rule& rule : rules_) {
    const bool fits = rule.match.fit(kind, {own, own}, ComparedBy::shown_name) ||
                      (is_uri && rule.match.speak_of(kind) && (plain.empty() || rule.match.fit_plain(kind, plain)));
    if (fits) all.insert(all.end(), rule.scopes.begin(), rule.scopes.end());
  }
  return scopes_of(std::move(all));
}

}  // namespace proteus::catalog
