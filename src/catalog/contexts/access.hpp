#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalog/definitions/names.hpp"

namespace proteus::catalog {

// Whether a text fits a pattern, in which "*" stands for any characters and "?" for any one. Takes time proportional to
// the lengths of both, multiplied, at worst.
bool fits(std::string_view pattern, std::string_view text);

// Which providers a caller may use. Immutable.
class Access {
 public:
  static Access all();
  // Those whose names fit one of the patterns; none where there is no pattern.
  static Access only(std::vector<std::string> patterns);

  bool is_all() const { return all_; }
  bool allows(const UpstreamName& upstream) const;
  // The same for those that allow the same patterns, and for no other.
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  Access() = default;

  bool all_ = false;
  std::vector<std::string> patterns_;  // in order, each once
  std::string fingerprint_;
};

}  // namespace proteus::catalog
