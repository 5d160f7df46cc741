#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

namespace proteus::providers {

// Returns a tool's input schema in the form that checks arguments: arguments that the schema does not name are refused,
// unless the schema has its own rule for additional properties. No error message names the added rule, and clients see
// the original schema. `schema` must be an object.
boost::json::object closed_schema(const boost::json::value& schema);

// Returns the arguments that a schema names, at its top and in the schemas that it is composed of. Takes time linear in
// the size of the schema.
std::vector<std::string> named_arguments(const boost::json::value& schema);

}  // namespace proteus::providers
