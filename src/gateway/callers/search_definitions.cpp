#include "gateway/callers/search_definitions.hpp"

#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace proteus::gateway {
namespace {

constexpr std::string_view kHits = R"("outputSchema":{"type":"object","properties":{
"tools":{"type":"array","items":{"type":"object","properties":{
"name":{"type":"string"},"upstream":{"type":"string"},"signature":{"type":"string"},"description":{"type":"string"},
"readOnly":{"type":"boolean"}},"required":["name","upstream","signature"]}},
"unanswered":{"type":"array","items":{"type":"string"},"description":"Upstreams whose tools are not known at the moment"},
"note":{"type":"string"}},"required":["tools"]})";

constexpr std::string_view kDescribed = R"("outputSchema":{"type":"object","properties":{
"tools":{"type":"array","items":{"type":"object"},"description":"Definitions as in tools/list"},
"unknown":{"type":"array","items":{"type":"object","properties":{
"name":{"type":"string"},"nearest":{"type":"array","items":{"type":"string"}}},"required":["name"]}},
"unanswered":{"type":"array","items":{"type":"string"}},
"left_out":{"type":"array","items":{"type":"string"},"description":"Names to ask for once more: the answer was full"}},
"required":["tools"]})";

std::string search_tools() {
  return fmt::format(
      R"({{"name":"{}","title":"Search tools","description":"Finds tools by what they do, among all that you may use here. Give one query, or several in queries: one for each step of the task. Answers with signatures; call what you find with {}.",
"inputSchema":{{"type":"object","properties":{{
"query":{{"type":"string","description":"What a tool should do, in a few words"}},
"queries":{{"type":"array","items":{{"type":"string"}},"maxItems":{},"description":"Several queries instead, one for each step of a task"}},
"limit":{{"type":"integer","minimum":1,"maximum":{},"default":{},"description":"How many tools to find"}},
"upstream":{{"type":"string","description":"Search only the tools of this upstream"}}}},
"additionalProperties":false}},{},"annotations":{{"readOnlyHint":true,"openWorldHint":false}}}})",
      kSearchTools, kCallTool, SearchArguments::kMostQueries, SearchArguments::kMostHits, SearchArguments::kUsualLimit,
      kHits);
}

std::string describe_tool() {
  return fmt::format(
      R"({{"name":"{}","title":"Describe tools","description":"Shows the full definitions of tools, with all that their parameters mean. Several at once.",
"inputSchema":{{"type":"object","properties":{{
"names":{{"type":"array","items":{{"type":"string"}},"minItems":1,"maxItems":{},"description":"Names as {} gives them"}}}},
"required":["names"],"additionalProperties":false}},{},"annotations":{{"readOnlyHint":true,"openWorldHint":false}}}})",
      kDescribeTool, SearchArguments::kMostNames, kSearchTools, kDescribed);
}

std::string call_tool(std::string_view name, std::string_view title, std::string_view description,
                      std::string_view annotations) {
  return fmt::format(
      R"({{"name":"{}","title":"{}","description":"{}",
"inputSchema":{{"type":"object","properties":{{
"name":{{"type":"string","description":"Name of the tool, as {} gives it"}},
"arguments":{{"type":"object","description":"Its arguments, by its signature"}}}},
"required":["name"],"additionalProperties":false}},"annotations":{{{}}}}})",
      name, title, description, kSearchTools, annotations);
}

catalog::SnapshotPointer make() {
  const std::array texts = {
      search_tools(), describe_tool(),
      call_tool(kCallTool, "Call a tool", "Calls a tool by its name, and answers as that tool does.",
                R"("destructiveHint":true,"openWorldHint":true)"),
      call_tool(kCallReadTool, "Call a tool that only reads",
                "The same as call_tool, for tools that change nothing: those that search_tools marks as read-only.",
                R"("readOnlyHint":true,"openWorldHint":true)")};
  catalog::RawListing listing;
  listing.definitions[catalog::Kind::tool] = std::vector<std::string_view>(texts.begin(), texts.end());
  return catalog::build_snapshot(search_provider(), 1, std::move(listing), {}, {}).value();
}

}  // namespace

const catalog::UpstreamName& search_provider() {
  static const catalog::UpstreamName name("search:");
  return name;
}

const catalog::SnapshotPointer& search_definitions() {
  static const catalog::SnapshotPointer definitions = make();
  return definitions;
}

}  // namespace proteus::gateway
