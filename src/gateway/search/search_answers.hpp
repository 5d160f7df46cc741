#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/definitions/definition.hpp"
#include "gateway/search/tool_search.hpp"
#include "mcp/reply.hpp"

// The answers to agents, as text and as structured content.
namespace proteus::gateway {

// `note` is a hint for the agent; may be empty.
mcp::Reply hits_reply(std::span<const ToolHit> hits, const std::vector<std::string>& unanswered, std::string_view note);

// Returns a tool's definition for a caller who calls the tool by `call_tool` or without having listed it. Leaves out
// `x-mcp-header`: the gateway mirrors these parameters in headers, so the caller need not.
std::string described(const catalog::Definition& tool);

struct UnknownName {
  std::string name;
  std::vector<std::string> nearest;
};
struct Descriptions {
  std::vector<std::string> tools;  // definitions
  std::vector<UnknownName> unknown;
  std::vector<std::string> left_out;  // did not fit into the answer
  std::vector<std::string> unanswered;
};
mcp::Reply descriptions_reply(const Descriptions& all);

// For example "There is no tool x. Nearest: y, z."
std::string no_such_tool(const UnknownName& unknown, const std::vector<std::string>& unanswered);

}  // namespace proteus::gateway
