#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

// What an agent needs to know of a tool to call it, in as few words as that takes.
namespace proteus::gateway {

// One line in the way of TypeScript, required parameters first:
//   create_issue(owner: string, title: string, state?: "open"|"closed" = "open", labels?: string[])
// Whatever is too long or too deep ends in "…". Takes time linear in the schema, and writes a bounded number of bytes.
std::string signature_of(std::string_view name, const boost::json::value& input_schema);

// The beginning of a text on one line: whole sentences as far as they fit into so many bytes, or else the beginning of
// the first. Nothing in it can end the line, or hide.
std::string brief(std::string_view text, std::size_t most = 240);

}  // namespace proteus::gateway
