#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

namespace proteus::mcp {

// Decides whether a URI may be an expansion of a resource template, to find the provider that answers for it. Accepts
// any expression of RFC 6570, but does not compute the variables, so a URI may match although no values expand to it.
// Immutable.
class UriPattern {
 public:
  // Fails if braces are not paired, if an expression is empty, or if there are more than 64 expressions.
  static Result<UriPattern> parse(std::string_view uri_template);

  // The budget for searching the templates of one provider for a URI: a millisecond or two, and more than any templates
  // need that are not designed to be slow.
  static constexpr std::size_t kSteps = 200'000;

  // Whether the URI matches. Subtracts its work from `steps` and returns false once they are used up: one step if the
  // beginning or the end of the URI differs, about one per character if all variables may have slashes, and at worst
  // one per character and literal between slashes.
  bool matches(std::string_view uri, std::size_t& steps) const;
  bool matches(std::string_view uri) const {
    std::size_t steps = kSteps;
    return matches(uri, steps);
  }
  // The number of literal characters. The more there are, the more specific a match is.
  std::size_t fixed_characters() const { return fixed_characters_; }

 private:
  // Each expression is a hole between two literals; there are at most 64. Values of {x} have no slash, because reserved
  // characters are encoded. Values with the operators + # / ? & may have slashes.
  std::vector<std::string> literals_;  // with a hole after each but the last
  std::uint64_t anything_ = 0;         // bit set of the holes that accept slashes
  std::size_t fixed_characters_ = 0;
};

}  // namespace proteus::mcp
