#include "gateway/callers/issued_tokens.hpp"

namespace proteus::gateway {

IssuedTokens::IssuedTokens(std::vector<Entry> entries) {
  for (auto& entry : entries) {
    are_alike_ = are_alike_ && entry.principal->permissions().show_all();
    permissions_.insert(&entry.principal->permissions());
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

std::shared_ptr<const Principal> IssuedTokens::find_name(std::string_view name) const {
  for (const auto& [token, entry] : by_token_) {
    if (entry.principal->name() == name) return entry.principal;
  }
  return nullptr;
}

void IssuedTokens::look_at(const catalog::SnapshotPointer& snapshot) const {
  for (const Permissions* permissions : permissions_) {
    if (const auto& entries = permissions->access().entries()) entries->look_at(snapshot);
  }
}

std::unordered_set<std::string> IssuedTokens::keys_at(Clock::Wall now) const {
  std::unordered_set<std::string> keys;
  for (const auto& [token, entry] : by_token_) {
    if (!entry.principal->has_expired(now)) keys.insert(entry.principal->key());
  }
  return keys;
}

}  // namespace proteus::gateway
