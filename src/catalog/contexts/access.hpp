#pragma once

#include <memory>
#include <string>
#include <vector>

#include "catalog/contexts/entry_filter.hpp"
#include "catalog/definitions/names.hpp"

namespace proteus::catalog {

// What a caller may use: which providers, and which of their entries. Immutable. Copies share what was worked out by
// their rules, so that all callers of one rule have copies of one object.
class Access {
 public:
  static Access all();
  // The providers whose names fit one of the patterns, none where there is no pattern; and of them the entries that the
  // rules allow.
  static Access only(std::vector<std::string> patterns, EntryRules rules = {});

  // Whether that is everything there is.
  bool is_all() const { return all_ && !entries_; }
  bool allows(const UpstreamName& upstream) const;
  // Null where everything of a provider that is allowed is allowed.
  const std::shared_ptr<const EntryFilter>& entries() const { return entries_; }
  // Whether anything of that kind can be there.
  bool may_have(Kind kind) const { return !entries_ || !entries_->leaves_nothing(kind); }
  // Whether of that kind only what declares that it changes nothing can be there.
  bool only_read_only(Kind kind) const { return entries_ && entries_->only_read_only(kind); }
  // The same for those that allow the same by the same patterns, and for no other.
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  Access() = default;

  bool all_ = false;
  std::vector<std::string> patterns_;  // in order, each once
  std::shared_ptr<const EntryFilter> entries_;
  std::string fingerprint_;
};

}  // namespace proteus::catalog
