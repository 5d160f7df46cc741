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

// What one rule lets callers use. Shared by all principals of the rule. Immutable.
class Permissions {
 public:
  // `contexts` are patterns. If `requests_per_minute` is 0, only the limit for everybody applies.
  Permissions(catalog::Access access, std::vector<std::string> contexts, unsigned requests_per_minute = 0,
              catalog::Disclosure disclosure = catalog::Disclosure::all);

  const catalog::Access& access() const { return access_; }
  bool may_enter(std::string_view context) const;
  bool enters_all() const;
  // Returns a text that is equal for permissions with the same context patterns.
  const std::string& entry() const { return entry_; }
  unsigned requests_per_minute() const { return requests_per_minute_; }
  catalog::Disclosure disclosure() const { return disclosure_; }
  // Returns the lens for what is listed to callers who search, outside of contexts; null if everything is listed.
  const std::shared_ptr<const catalog::ListedLens>& listed() const { return listed_; }
  // Whether everything is allowed and listed.
  bool show_all() const { return access_.is_all() && disclosure_ == catalog::Disclosure::all; }
  // Equal for permissions that permit the same.
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

// Permissions, each of which exists once however many principals have them. Not thread-safe while it grows.
class PermissionsTable {
 public:
  using Pointer = std::shared_ptr<const Permissions>;

  // Returns the existing permissions that permit the same, from here or from `previous` (may be null), or else these.
  Pointer add(Permissions permissions, const PermissionsTable* previous = nullptr);
  void look_at(const catalog::SnapshotPointer& snapshot) const;
  std::size_t size() const { return by_fingerprint_.size(); }

 private:
  std::unordered_map<std::string, Pointer> by_fingerprint_;
};

}  // namespace proteus::gateway
