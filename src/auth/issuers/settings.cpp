#include "auth/issuers/settings.hpp"

#include <unordered_set>

namespace proteus::auth {

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
