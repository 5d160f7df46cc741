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

  // Takes time proportional to the lengths of the URI and of the template, multiplied, at worst; a URI that begins
  // otherwise is told at once.
  bool matches(std::string_view uri) const;
  // The more characters are fixed, the more a match says.
  std::size_t fixed_characters() const { return fixed_characters_; }

 private:
  // What an expression can stand for: the variables of {x} have their reserved characters encoded, those of {+x} have
  // not; the others begin with a character of their own where they are not empty.
  enum class Hole : std::uint8_t { none, segment, anything };
  struct Part {
    std::string literal;
    Hole hole = Hole::none;  // behind the literal
  };

  std::vector<Part> parts_;  // the last has no hole
  std::size_t fixed_characters_ = 0;
};

}  // namespace proteus::mcp
