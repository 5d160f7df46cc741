#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/message/transport.hpp"
#include "mcp/headers.hpp"

namespace proteus::client {

// Knows which parameters of the listed tools are mirrored into headers.
class HeaderParameters {
 public:
  // Reads the annotations of a tool's definition. Fails if they are invalid: the tool must not be offered then.
  Result<> learn(std::string_view tool, std::string_view definition);

  // Returns the headers of a call: those of the caller and the mirrored parameters. `arguments` is a JSON object or
  // empty. A caller that has read the list itself may bring mirrored parameters, too; each header is returned once,
  // with the value from `arguments`.
  Result<std::vector<Header>> headers(std::string_view tool, std::string_view arguments,
                                      std::span<const Header> of_caller) const;
  bool has(std::string_view tool) const { return parameters_.contains(tool); }

 private:
  std::map<std::string, std::vector<mcp::MirroredParameter>, std::less<>> parameters_;
};

}  // namespace proteus::client
