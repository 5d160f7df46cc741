#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>

namespace proteus::providers {

// A tool's input schema as its arguments are checked by it: what it does not name is refused, unless it speaks of
// additional properties itself. The name of such a rule is in no message; the schema that clients see stays as it is.
boost::json::object closed_schema(const boost::json::object& schema);

// The arguments that a schema names, at its top and where it is put together of others.
std::vector<std::string> named_arguments(const boost::json::object& schema);

}  // namespace proteus::providers
