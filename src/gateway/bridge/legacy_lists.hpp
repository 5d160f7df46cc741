#pragma once

#include <string>
#include <string_view>

#include "catalog/definitions/definition_list.hpp"
#include "catalog/definitions/kind.hpp"
#include "catalog/view/view.hpp"
#include "mcp/request.hpp"

namespace proteus::gateway {

// Whether tools have something that the revision of a client does not: of what is in the catalog, which costs time in
// proportion to the providers where that was not looked at before; and of one list.
bool needs_other_form(const catalog::View& view, catalog::Kind kind, const mcp::Request& request);
bool needs_other_form(const catalog::DefinitionList& list, const mcp::Request& request);

// Tools, with commas between them, as the client may have them. In the legacy era what a tool puts out is an object,
// and a schema of anything else is left out. A tool that can be called only as a task is there in 2025-11-25 alone.
std::string form_for(const mcp::Request& request, std::string_view tools);

}  // namespace proteus::gateway
