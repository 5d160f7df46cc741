#include "gateway/callers/permissions.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace proteus::gateway {

Permissions::Permissions(catalog::Access access, std::vector<std::string> contexts, unsigned requests_per_minute,
                         catalog::Disclosure disclosure)
    : access_(std::move(access)),
      contexts_(std::move(contexts)),
      requests_per_minute_(requests_per_minute),
      disclosure_(disclosure),
      listed_(disclosure == catalog::Disclosure::search ? std::make_shared<const catalog::ListedLens>() : nullptr) {
  for (const auto& pattern : contexts_)
    entry_ += pattern + "\n";
  fingerprint_ =
      fmt::format("{}\n{}\n{}\n{}", access_.fingerprint(), requests_per_minute_, static_cast<int>(disclosure_), entry_);
}

bool Permissions::enters_all() const { return std::ranges::find(contexts_, "*") != contexts_.end(); }

bool Permissions::may_enter(std::string_view context) const {
  return std::ranges::any_of(contexts_, [&](const auto& pattern) { return catalog::fits(pattern, context); });
}

PermissionsTable::Pointer PermissionsTable::add(Permissions permissions, const PermissionsTable* previous) {
  Pointer& known = by_fingerprint_[permissions.fingerprint()];
  if (known) return known;
  if (previous != nullptr) {
    const auto before = previous->by_fingerprint_.find(permissions.fingerprint());
    if (before != previous->by_fingerprint_.end()) return known = before->second;
  }
  return known = std::make_shared<const Permissions>(std::move(permissions));
}

void PermissionsTable::look_at(const catalog::SnapshotPointer& snapshot) const {
  for (const auto& [fingerprint, permissions] : by_fingerprint_) {
    if (const auto& entries = permissions->access().entries()) entries->look_at(snapshot);
  }
}

}  // namespace proteus::gateway
