#include "mcp/uri_pattern.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "base/log/log.hpp"

namespace proteus::mcp {
namespace {

constexpr std::size_t kMaxExpressions = 64;

}  // namespace

Result<UriPattern> UriPattern::parse(std::string_view uri_template) {
  const auto fault = [&](std::string_view why) {
    return std::unexpected(
        proteus::errors::invalid(fmt::format("the template {} {}", log::printable(uri_template), why)));
  };
  UriPattern pattern;
  std::size_t at = 0;
  while (true) {
    const auto open = std::min(uri_template.find('{', at), uri_template.size());
    std::string literal(uri_template.substr(at, open - at));
    if (literal.find('}') != std::string::npos) return fault("has a stray brace");
    pattern.fixed_characters_ += literal.size();
    if (open == uri_template.size()) {
      pattern.literals_.push_back(std::move(literal));
      return pattern;
    }
    const auto close = uri_template.find('}', open);
    if (close == std::string_view::npos || close == open + 1) return fault("has a brace that opens no expression");
    if (pattern.literals_.size() == kMaxExpressions) return fault("has too many expressions");
    // An expression may start with an operator. Without one, or with the operator of a label (.) or a parameter (;), a
    // value has no slash.
    static constexpr std::string_view kCrossing = "+#/?&";
    const bool crossing = kCrossing.find(uri_template[open + 1]) != std::string_view::npos;
    if (crossing) pattern.anything_ |= std::uint64_t{1} << pattern.literals_.size();
    pattern.literals_.push_back(std::move(literal));
    at = close + 1;
  }
}

// Scans the URI once and keeps the set of holes that the current place may be in. If one of them accepts slashes, all
// earlier holes are dropped, because they cannot lead to more matches.
bool UriPattern::matches(std::string_view uri, std::size_t& steps) const {
  const auto spend = [&](std::size_t some) {
    if (some > steps) {
      steps = 0;
      return false;
    }
    steps -= some;
    return true;
  };
  const std::string& first = literals_.front();
  const std::string& last = literals_.back();
  if (!spend(1) || uri.size() < first.size() + (literals_.size() == 1 ? 0 : last.size())) return false;
  if (!uri.starts_with(first) || !uri.ends_with(last)) return false;
  if (literals_.size() == 1) return uri.size() == first.size();

  const std::size_t holes = literals_.size() - 1;
  const auto bit = [](std::size_t hole) { return std::uint64_t{1} << hole; };
  const std::size_t end = uri.size() - last.size();
  if (!spend(uri.size() / 8)) return false;
  std::vector<std::uint64_t> reached(end + 1, 0);  // for each place, the holes that begin there
  reached[first.size()] = bit(0);
  std::uint64_t inside = 0;
  for (std::size_t at = first.size(); at <= end; ++at) {
    inside |= reached[at];
    if (inside == 0) {
      if (!spend(1)) return false;
      continue;
    }
    for (std::uint64_t left = inside; left != 0; left &= left - 1) {
      const auto hole = static_cast<std::size_t>(std::countr_zero(left));
      if (hole + 1 == holes) break;
      const std::string& literal = literals_[hole + 1];
      if (!spend(1)) return false;
      if (!literal.empty() && (literal.size() > end - at || uri[at] != literal.front())) continue;
      if (!spend(literal.size() / 8)) return false;
      if (uri.substr(at, literal.size()) != literal) continue;
      reached[at + literal.size()] |= bit(hole + 1);
      if (literal.empty()) {
        inside |= bit(hole + 1);
        left |= bit(hole + 1);
      }
    }
    const std::uint64_t anything = inside & anything_;
    if (anything != 0) inside &= ~(std::bit_floor(anything) - 1);
    if ((inside & bit(holes - 1)) != 0 && (at == end || (anything_ & bit(holes - 1)) != 0)) return true;
    if (at < end && uri[at] == '/') inside &= anything_;
  }
  return false;
}

}  // namespace proteus::mcp
