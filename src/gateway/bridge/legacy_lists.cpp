#include "gateway/bridge/legacy_lists.hpp"

#include "json/message.hpp"
#include "json/splice.hpp"
#include "json/text.hpp"

namespace proteus::gateway {
namespace {

bool is_task_only(std::string_view tool) {
  constexpr std::string_view kMember = "taskSupport";
  if (!tool.contains(kMember)) return false;
  return json::decode_string(json::find_member(json::find_member(tool, "execution"), kMember)).value_or("") ==
         "required";
}

std::string without_output_schema(std::string_view tool) {
  std::vector<std::unique_ptr<std::string>> storage;
  const auto members = json::members_of(tool, storage);
  json::Splice splice(tool);
  json::edit_members(splice, tool, *members, [](const json::Member& member) { return member.key == "outputSchema"; });
  return splice.str();
}

template <class Tools>
bool differ(const Tools& tools, const mcp::Request& request) {
  return (request.era() == mcp::Era::legacy && tools.has_modern_output()) ||
         (!mcp::has_tasks(request.version) && tools.has_task_only());
}

}  // namespace

bool needs_other_form(const catalog::View& view, catalog::Kind kind, const mcp::Request& request) {
  return kind == catalog::Kind::tool && differ(view, request);
}

bool needs_other_form(const catalog::DefinitionList& list, const mcp::Request& request) {
  return list.kind() == catalog::Kind::tool && differ(list, request);
}

std::string form_for(const mcp::Request& request, std::string_view tools) {
  const std::string array = "[" + std::string(tools) + "]";
  const auto elements = json::elements_of(array, catalog::ListLimits{}.definitions);
  if (!elements) return std::string(tools);
  const bool legacy = request.era() == mcp::Era::legacy;
  const bool tasks = mcp::has_tasks(request.version);
  std::string out;
  for (const std::string_view tool : *elements) {
    if (!tasks && is_task_only(tool)) continue;
    if (!out.empty()) out += ',';
    out += legacy && catalog::has_modern_output(tool) ? without_output_schema(tool) : std::string(tool);
  }
  return out;
}

}  // namespace proteus::gateway
