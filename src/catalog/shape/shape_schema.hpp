#pragma once

#include <string>
#include <string_view>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

#include "catalog/shape/tool_shape.hpp"

namespace proteus::catalog {

// A tool's definition as callers see it where some arguments are added to what they send: its `inputSchema` takes
// exactly those arguments that the original takes with the others added. A fixed argument is gone from it, and one with
// a default says so and is not required. All other bytes stay.
//
// Fails where no such schema can be told: where a value does not fit, or where the schema ties arguments to each other
// by more than `properties` and `required`. `schema` is the tree of its `inputSchema`. Takes time linear in the
// definition.
Result<std::string> with_arguments_added(std::string_view tool, const boost::json::value& schema,
                                         const ArgumentValues& fixed, const ArgumentValues& defaults);

}  // namespace proteus::catalog
