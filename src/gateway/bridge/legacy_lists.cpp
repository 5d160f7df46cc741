#include "gateway/bridge/legacy_lists.hpp"

#include "json/message.hpp"
#include "json/splice.hpp"

namespace proteus::gateway {

bool needs_legacy_form(const catalog::View& view, catalog::Kind kind, const mcp::Request& request) {
  return kind == catalog::Kind::tool && request.era() == mcp::Era::legacy && view.has_modern_output();
}

std::string legacy_form(std::string_view tools) {
  const std::string array = "[" + std::string(tools) + "]";
  const auto elements = json::elements_of(array, catalog::ListLimits{}.definitions);
  if (!elements) return std::string(tools);
  std::string out;
  for (const std::string_view tool : *elements) {
    if (!out.empty()) out += ',';
    if (!catalog::has_modern_output(tool)) {
      out += tool;
      continue;
    }
    std::vector<std::unique_ptr<std::string>> storage;
    const auto members = json::members_of(tool, storage);
    json::Splice splice(tool);
    json::edit_members(splice, tool, *members, [](const json::Member& member) { return member.key == "outputSchema"; });
    out += splice.str();
  }
  return out;
}

}  // namespace proteus::gateway
