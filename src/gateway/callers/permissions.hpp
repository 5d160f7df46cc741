#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "catalog/contexts/access.hpp"
#include "catalog/contexts/disclosure.hpp"
#include "catalog/contexts/listed_lens.hpp"

namespace proteus::gateway {

// What one rule lets somebody use: shared by all principals that the rule is for. Immutable.
class Permissions {
 public:
  // `contexts` are patterns. No requests a minute: no limit besides that of everybody.
  Permissions(catalog::Access access, std::vector<std::string> contexts, unsigned requests_per_minute = 0,
              catalog::Disclosure disclosure = catalog::Disclosure::all);

  const catalog::Access& access() const { return access_; }
  bool may_enter(std::string_view context) const;
  bool enters_all() const;
  // The same for those that may enter the same contexts by the same patterns.
  const std::string& entry() const { return entry_; }
  unsigned requests_per_minute() const { return requests_per_minute_; }
  catalog::Disclosure disclosure() const { return disclosure_; }
  // What is listed outside of contexts to those who search; null where everything is.
  const std::shared_ptr<const catalog::ListedLens>& listed() const { return listed_; }
  // Whether they are shown everything there is.
  bool show_all() const { return access_.is_all() && disclosure_ == catalog::Disclosure::all; }
  // The same for those that permit the same.
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  catalog::Access access_;
  std::vector<std::string> contexts_;
  std::string entry_;
  unsigned requests_per_minute_;
  catalog::Disclosure disclosure_;
  std::shared_ptr<const catalog::ListedLens> listed_;
  std::string fingerprint_;
};

// Permissions that are there once, however many principals have them. Not thread-safe while it grows.
class PermissionsTable {
 public:
  using Pointer = std::shared_ptr<const Permissions>;

  // The one there is that permits the same, here or in `previous` (may be null).
  Pointer add(Permissions permissions, const PermissionsTable* previous = nullptr);
  void look_at(const catalog::SnapshotPointer& snapshot) const;
  std::size_t size() const { return by_fingerprint_.size(); }

 private:
  std::unordered_map<std::string, Pointer> by_fingerprint_;
};

}  // namespace proteus::gateway
