#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/message/transport.hpp"
#include "mcp/headers.hpp"

namespace proteus::client {

// Which parameters of which tools are mirrored into headers, as far as tools were listed.
class HeaderParameters {
 public:
  // Reads the annotations of a tool's definition. Fails where they are invalid: the tool must not be offered.
  Result<> learn(std::string_view tool, std::string_view definition);

  // The headers for a call: the caller's, and the mirrored parameters. A caller that has read a list itself may
  // bring some of these, too; each is sent once, with the value that `arguments` has, an object as JSON or empty.
  Result<std::vector<Header>> headers(std::string_view tool, std::string_view arguments,
                                      std::span<const Header> of_caller) const;
  bool has(std::string_view tool) const { return parameters_.contains(tool); }

 private:
  std::map<std::string, std::vector<mcp::MirroredParameter>, std::less<>> parameters_;
};

}  // namespace proteus::client
