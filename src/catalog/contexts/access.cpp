#include "catalog/contexts/access.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "json/canonical.hpp"

namespace proteus::catalog {

// After a mismatch only the last star need be tried again: what an earlier one could take, the last can.
bool fits(std::string_view pattern, std::string_view text) {
  std::size_t at = 0;
  std::size_t in_text = 0;
  std::size_t star = std::string_view::npos;
  std::size_t taken_from = 0;
  while (in_text < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken_from = in_text;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[in_text])) {
      ++at;
      ++in_text;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in_text = ++taken_from;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

Access Access::all() {
  Access access;
  access.all_ = true;
  access.fingerprint_ = "*";
  return access;
}

Access Access::only(std::vector<std::string> patterns) {
  if (std::ranges::find(patterns, "*") != patterns.end()) return all();
  Access access;
  std::ranges::sort(patterns);
  const auto doubles = std::ranges::unique(patterns);
  patterns.erase(doubles.begin(), doubles.end());
  access.patterns_ = std::move(patterns);
  std::string written;
  for (const auto& pattern : access.patterns_)
    written += fmt::format("{}:{}", pattern.size(), pattern);
  access.fingerprint_ = json::hex(json::sha256(written));
  return access;
}

bool Access::allows(const UpstreamName& upstream) const {
  return all_ || std::ranges::any_of(patterns_, [&](const auto& pattern) { return fits(pattern, upstream.value()); });
}

}  // namespace proteus::catalog
