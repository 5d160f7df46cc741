#pragma once

#include <string>
#include <string_view>

#include "catalog/definitions/kind.hpp"
#include "catalog/view/view.hpp"
#include "mcp/request.hpp"

namespace proteus::gateway {

// Whether a list has something that the client's era does not know. Costs time in proportion to the providers.
bool needs_legacy_form(const catalog::View& view, catalog::Kind kind, const mcp::Request& request);

// Tools, with commas between them, as a legacy client may have them: there what a tool puts out is an object, and a
// schema of anything else is left out.
std::string legacy_form(std::string_view tools);

}  // namespace proteus::gateway
