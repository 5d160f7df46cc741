#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "providers/http_tool/http_tool.hpp"

namespace proteus::providers {

// The arguments of a call, found to be right: as JSON text without braces.
class CheckedArguments {
 public:
  // Those that are null and may not be are left out, as if they had not been given.
  //
  // `raw` is the object as it was sent, empty for none, and must outlive this. The error is a text that whoever called
  // can correct itself by.
  static std::expected<CheckedArguments, std::string> check(const HttpTool& tool, std::string_view raw);

  std::string_view members() const { return owned_.empty() ? raw_ : std::string_view(owned_); }

 private:
  std::string_view raw_;
  std::string owned_;  // where something was left out
};

}  // namespace proteus::providers
