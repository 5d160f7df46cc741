#include "catalog/kind.hpp"

namespace proteus::catalog {

const KindInfo& info(Kind kind) {
  using mcp::Method;
  static constexpr std::array kInfos = {
      KindInfo{Method::tools_list, "tools", "name", "tools", "tool"},
      KindInfo{Method::prompts_list, "prompts", "name", "prompts", "prompt"},
      KindInfo{Method::resources_list, "resources", "uri", "resources", "resource"},
      KindInfo{Method::resource_templates_list, "resourceTemplates", "uriTemplate", "resource_templates",
               "resource template"},
  };
  return kInfos.at(index_of(kind));
}

}  // namespace proteus::catalog
