#include "mcp/uri_pattern.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.hpp"

namespace proteus::mcp {
namespace {

constexpr std::size_t kMaxExpressions = 64;

// Behind the first segment a URI in a simple expression would have its slash encoded.
std::size_t segment_end(std::string_view uri, std::size_t at) { return std::min(uri.find('/', at), uri.size()); }

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
    Part part{std::string(uri_template.substr(at, open - at)), Hole::none};
    if (part.literal.find('}') != std::string::npos) return fault("has a stray brace");
    pattern.fixed_characters_ += part.literal.size();
    if (open == uri_template.size()) {
      pattern.parts_.push_back(std::move(part));
      return pattern;
    }
    const auto close = uri_template.find('}', open);
    if (close == std::string_view::npos || close == open + 1) return fault("has a brace that opens no expression");
    if (pattern.parts_.size() == kMaxExpressions) return fault("has too many expressions");
    // An operator comes first; without one, or as a label or a parameter, a value does not cross a slash.
    static constexpr std::string_view kCrossing = "+#/?&";
    const bool crossing = kCrossing.find(uri_template[open + 1]) != std::string_view::npos;
    part.hole = crossing ? Hole::anything : Hole::segment;
    pattern.parts_.push_back(std::move(part));
    at = close + 1;
  }
}

// Keeps all the places that the parts so far may end at: after each literal those are few, or an interval.
bool UriPattern::matches(std::string_view uri) const {
  const Part& first = parts_.front();
  const Part& last = parts_.back();
  if (!uri.starts_with(first.literal) || !uri.ends_with(last.literal)) return false;
  if (parts_.size() == 1) return uri.size() == first.literal.size();

  std::vector<bool> ends(uri.size() + 1, false);
  ends[first.literal.size()] = true;
  for (std::size_t i = 1; i < parts_.size(); ++i) {
    const std::string& literal = parts_[i].literal;
    std::vector<bool> next(uri.size() + 1, false);
    std::size_t reach = 0;  // the hole may end anywhere before it, from a place that was an end
    bool open = false;
    bool any = false;
    for (std::size_t at = 0; at + literal.size() <= uri.size(); ++at) {
      if (ends[at]) {
        open = true;
        reach = parts_[i - 1].hole == Hole::anything ? uri.size() : segment_end(uri, at);
      }
      if (!open || at > reach || uri.substr(at, literal.size()) != literal) continue;
      next[at + literal.size()] = true;
      any = true;
    }
    if (!any) return false;
    ends.swap(next);
  }
  return ends[uri.size()];
}

}  // namespace proteus::mcp
