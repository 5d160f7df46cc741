#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "providers/http_tool/http_tool.hpp"

namespace proteus::providers {

// The arguments of a call after a successful check, as JSON text without braces.
class CheckedArguments {
 public:
  // Checks arguments. A null that the schema refuses is left out, as if the argument had not been given.
  //
  // `raw` is the object as it was sent, empty for none, and must outlive the result. The error is a text that tells the
  // caller what to correct.
  static std::expected<CheckedArguments, std::string> check(const HttpTool& tool, std::string_view raw);

  std::string_view members() const { return owned_.empty() ? raw_ : std::string_view(owned_); }

 private:
  std::string_view raw_;
  std::string owned_;  // if something was left out
};

}  // namespace proteus::providers
