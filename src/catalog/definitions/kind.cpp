#include "catalog/definitions/kind.hpp"

namespace proteus::catalog {

const KindInfo& info(Kind kind) {
  using mcp::Method;
  static constexpr std::array kInfos = {
      KindInfo{Method::tools_list, Method::tools_changed, "tools", "name", "tools", "tool"},
      KindInfo{Method::prompts_list, Method::prompts_changed, "prompts", "name", "prompts", "prompt"},
      KindInfo{Method::resources_list, Method::resources_changed, "resources", "uri", "resources", "resource"},
      KindInfo{Method::resource_templates_list, Method::resources_changed, "resourceTemplates", "uriTemplate",
               "resource_templates", "resource template"},
  };
  return kInfos.at(index_of(kind));
}

}  // namespace proteus::catalog
