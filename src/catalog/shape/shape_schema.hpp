#pragma once

#include <string>
#include <string_view>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

#include "catalog/shape/tool_shape.hpp"

namespace proteus::catalog {

// Returns a tool's definition as callers see it if `fixed` and `defaults` are added to their arguments: its
// `inputSchema` accepts exactly the arguments that the original accepts once these are added. A fixed argument is gone
// from it; one with a default has it as `default` and is not required. All other bytes stay.
//
// Fails if there is no such schema: if a value does not fit, or if the schema ties arguments together by more than
// `properties` and `required`. `schema` is the parsed `inputSchema` of `tool`. Takes time linear in the definition.
Result<std::string> with_arguments_added(std::string_view tool, const boost::json::value& schema,
                                         const ArgumentValues& fixed, const ArgumentValues& defaults);

}  // namespace proteus::catalog
