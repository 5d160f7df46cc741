#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <proteus/error.hpp>

namespace proteus::server {

// The part of RFC 6570 that resource templates use: {name} for one path segment, {+name} for several.
class UriTemplate {
 public:
  static Result<UriTemplate> parse(std::string_view text);

  using Variables = std::vector<std::pair<std::string, std::string>>;
  // Returns the variables of a URI, percent-decoded; nothing if the URI does not match. Takes time linear in the URI
  // for each variable.
  std::optional<Variables> match(std::string_view uri) const;

 private:
  struct Part {
    std::string literal;   // before the variable
    std::string variable;  // empty in the last part
    bool several = false;
  };
  std::vector<Part> parts_;
};

}  // namespace proteus::server
