#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

namespace proteus::mcp {

// Tells whether a URI can be an expansion of a resource template, to find who answers for it. Any expression of RFC
// 6570 is understood; what its variables would be is not asked, and so a URI may fit that no values expand to.
// Immutable.
class UriPattern {
 public:
  // Fails on braces that do not pair up, and on more than 64 expressions.
  static Result<UriPattern> parse(std::string_view uri_template);

  // The work of looking through one provider's templates for a URI: a millisecond or two, and more than any collection
  // of templates takes that was not made to be slow.
  static constexpr std::size_t kSteps = 200'000;

  // Takes one step for a URI that begins or ends otherwise, and one for each of its characters where all variables may
  // hold slashes; at worst those multiplied by the literals between slashes. False where no steps are left.
  bool matches(std::string_view uri, std::size_t& steps) const;
  bool matches(std::string_view uri) const {
    std::size_t steps = kSteps;
    return matches(uri, steps);
  }
  // The more characters are fixed, the more a match says.
  std::size_t fixed_characters() const { return fixed_characters_; }

 private:
  // What an expression can stand for: the variables of {x} have their reserved characters encoded, and so no slash;
  // those of {+x} have not, and the others begin with a character of their own where they are not empty. Each stands in
  // a hole, of which there are at most 64, between two literals.
  std::vector<std::string> literals_;  // with a hole behind each but the last
  std::uint64_t anything_ = 0;         // the holes that take slashes, by their number
  std::size_t fixed_characters_ = 0;
};

}  // namespace proteus::mcp
