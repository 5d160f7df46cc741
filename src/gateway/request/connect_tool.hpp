#pragma once

#include <string_view>

#include "catalog/definitions/definition_list.hpp"
#include "providers/upstream.hpp"

// What stands for an upstream that a caller has not connected (UPC-07).
namespace proteus::gateway {

// By the upstream's own names; its prefix comes in front.
inline constexpr std::string_view kConnectTool = "connect";

// Of tools it is the one that connects; of anything else nothing.
catalog::DefinitionList::Pointer unconnected_list(catalog::Kind kind, const providers::Upstream& upstream);

}  // namespace proteus::gateway
