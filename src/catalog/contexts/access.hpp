#pragma once

#include <memory>
#include <string>
#include <vector>

#include "catalog/contexts/entry_filter.hpp"
#include "catalog/definitions/names.hpp"

namespace proteus::catalog {

// The rights of a caller: which providers it may use, and which of their entries. Immutable. Copies share one
// EntryFilter and what it has derived, so all callers of one rule have copies of one object.
class Access {
 public:
  static Access all();
  // Allows the entries that `rules` allow, of the providers whose names fit one of the patterns. Without patterns no
  // provider is allowed.
  static Access only(std::vector<std::string> patterns, EntryRules rules = {});

  // Whether every entry of every provider is allowed.
  bool is_all() const { return all_ && !entries_; }
  bool allows(const UpstreamName& upstream) const;
  // Returns the filter for entries; null if all entries of an allowed provider are allowed.
  const std::shared_ptr<const EntryFilter>& entries() const { return entries_; }
  // Whether an entry of that kind may be allowed at all.
  bool may_have(Kind kind) const { return !entries_ || !entries_->leaves_nothing(kind); }
  // Whether entries of that kind are allowed only if they declare that they change nothing.
  bool only_read_only(Kind kind) const { return entries_ && entries_->only_read_only(kind); }
  // Equal for those that allow the same by the same patterns, and only for those.
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  Access() = default;

  bool all_ = false;
  std::vector<std::string> patterns_;  // sorted, without duplicates
  std::shared_ptr<const EntryFilter> entries_;
  std::string fingerprint_;
};

}  // namespace proteus::catalog
