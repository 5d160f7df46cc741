#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

// Short texts that tell an agent how to call a tool.
namespace proteus::gateway {

// Returns one line in the style of TypeScript, with the required parameters first:
//   create_issue(owner: string, title: string, state?: "open"|"closed" = "open", labels?: string[])
// Anything too long or too deep ends in "…". The number of steps and the number of bytes written are bounded.
std::string signature_of(std::string_view name, const boost::json::value& input_schema);

// Returns the beginning of a text on one line: as many whole sentences as fit into `most` bytes, or else the beginning
// of the first one. Nothing in the result ends the line or is invisible.
std::string brief(std::string_view text, std::size_t most = 240);

}  // namespace proteus::gateway
