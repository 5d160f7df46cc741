#include "gateway/callers/issued_tokens.hpp"

#include <algorithm>

namespace proteus::gateway {

IssuedTokens::IssuedTokens(std::vector<Entry> entries) {
  for (auto& entry : entries) {
    are_alike_ = are_alike_ && entry.principal->access().is_all();
    if (entry.principal->expires()) expiring_.push_back(entry.principal);
    const json::Digest token = entry.principal->token();
    by_token_.emplace(token, std::move(entry));
  }
}

std::shared_ptr<const Principal> IssuedTokens::find(const json::Digest& token, Clock::Monotonic now) const {
  const auto found = by_token_.find(token);
  if (found == by_token_.end()) return nullptr;
  found->second.use->mark(now);
  return found->second.principal;
}

bool IssuedTokens::has_key(const std::string& key, Clock::Wall now) const {
  return std::ranges::any_of(by_token_, [&](const auto& entry) {
    const Principal& principal = *entry.second.principal;
    return principal.key() == key && !principal.has_expired(now);
  });
}

}  // namespace proteus::gateway
