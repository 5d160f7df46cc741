#pragma once

#include <string_view>

#include "catalog/definitions/definition_list.hpp"
#include "providers/upstream.hpp"

// What callers see of an upstream that they have not connected (UPC-07).
namespace proteus::gateway {

// The tool's own name, without the upstream's prefix.
inline constexpr std::string_view kConnectTool = "connect";

// Returns a list with the connecting tool, or an empty list for kinds other than tools.
catalog::DefinitionList::Pointer unconnected_list(catalog::Kind kind, const providers::Upstream& upstream);

}  // namespace proteus::gateway
