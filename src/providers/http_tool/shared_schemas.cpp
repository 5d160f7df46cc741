#include "providers/http_tool/shared_schemas.hpp"

#include <algorithm>

namespace proteus::providers {

Result<SharedSchemas::Pointer> SharedSchemas::compile(const boost::json::value& document) {
  const json::Digest digest = json::sha256(json::canonical(document));
  {
    const std::scoped_lock lock(mutex_);
    const auto found = known_.find(digest);
    if (auto known = found == known_.end() ? nullptr : found->second.lock()) return known;
  }
  auto compiled = json::Schema::compile(document);
  if (!compiled) return compiled;
  const std::scoped_lock lock(mutex_);
  auto& entry = known_[digest];
  // Somebody else may have been faster.
  if (auto known = entry.lock()) return known;
  entry = *compiled;
  if (known_.size() >= look_over_at_) {
    std::erase_if(known_, [](const auto& one) { return one.second.expired(); });
    look_over_at_ = std::max<std::size_t>(64, known_.size() * 2);
  }
  return compiled;
}

std::size_t SharedSchemas::size() const {
  const std::scoped_lock lock(mutex_);
  return known_.size();
}

}  // namespace proteus::providers
