#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/definitions/definition.hpp"
#include "gateway/search/tool_search.hpp"
#include "mcp/reply.hpp"

// What agents are answered, as text and as structured content.
namespace proteus::gateway {

// `note` is for the agent, and may be empty.
mcp::Reply hits_reply(std::span<const ToolHit> hits, const std::vector<std::string>& unanswered, std::string_view note);

// A tool's definition for somebody who calls it by `call_tool` or without having listed it: the gateway mirrors
// parameters in headers, and nothing says that the caller should.
std::string described(const catalog::Definition& tool);

struct UnknownName {
  std::string name;
  std::vector<std::string> nearest;
};
struct Descriptions {
  std::vector<std::string> tools;  // definitions
  std::vector<UnknownName> unknown;
  std::vector<std::string> left_out;  // because the answer was long enough
  std::vector<std::string> unanswered;
};
mcp::Reply descriptions_reply(const Descriptions& all);

// "There is no tool x. Nearest: y, z."
std::string no_such_tool(const UnknownName& unknown, const std::vector<std::string>& unanswered);

}  // namespace proteus::gateway
