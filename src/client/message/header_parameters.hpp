#pragma once

#include <map>
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

  // The headers for a call; none for a tool that has no annotations or is not known. `arguments` is the
  // object as JSON, or empty.
  Result<std::vector<Header>> headers(std::string_view tool, std::string_view arguments) const;
  bool has(std::string_view tool) const { return parameters_.contains(tool); }

 private:
  std::map<std::string, std::vector<mcp::MirroredParameter>, std::less<>> parameters_;
};

}  // namespace proteus::client
