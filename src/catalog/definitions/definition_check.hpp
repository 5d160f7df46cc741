#pragma once

#include <vector>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

#include "catalog/definitions/kind.hpp"
#include "mcp/headers.hpp"

namespace proteus::catalog {

// Whether a definition has the shape the specification gives its kind, as far as clients refuse a whole list over one
// that has not; for a tool, the parameters it mirrors in headers. The message says what is wrong.
Result<std::vector<mcp::MirroredParameter>> check_definition(Kind kind, const boost::json::value& definition);

// Whether a tool declares that it does not change anything. It is one that was checked.
bool declares_read_only(const boost::json::value& tool);

}  // namespace proteus::catalog
