#pragma once

#include <string>
#include <string_view>

#include "catalog/definitions/definition_list.hpp"
#include "catalog/definitions/kind.hpp"
#include "catalog/view/view.hpp"
#include "mcp/request.hpp"

namespace proteus::gateway {

// Whether the tools contain anything that the revision of the client does not know. For a view, this takes time
// proportional to the number of providers, unless the answer is cached.
bool needs_other_form(const catalog::View& view, catalog::Kind kind, const mcp::Request& request);
bool needs_other_form(const catalog::DefinitionList& list, const mcp::Request& request);

// Returns the tools, separated by commas, in the form for the client's revision. The legacy era gets no output schema
// of anything but an object, and only 2025-11-25 gets tools that can be called only as a task.
std::string form_for(const mcp::Request& request, std::string_view tools);

}  // namespace proteus::gateway
