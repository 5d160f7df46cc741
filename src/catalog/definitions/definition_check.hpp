#pragma once

#include <cstdint>
#include <vector>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

#include "catalog/definitions/kind.hpp"
#include "mcp/headers.hpp"

namespace proteus::catalog {

// Whether a tool that can be called only as a task of 2025-11-25 is of use: where its provider speaks that form.
enum class Tasks : std::uint8_t { not_spoken, spoken };

// Whether a definition has the shape the specification gives its kind, as far as clients refuse a whole list over one
// that has not; for a tool, the parameters it mirrors in headers. The message says what is wrong.
Result<std::vector<mcp::MirroredParameter>> check_definition(Kind kind, const boost::json::value& definition,
                                                             Tasks tasks = Tasks::not_spoken);

// Whether a tool declares that it does not change anything. It is one that was checked.
bool declares_read_only(const boost::json::value& tool);
// Whether a tool refuses every call that is no task (2025-11-25, "Tool-Level Negotiation").
bool needs_task(const boost::json::value& tool);

}  // namespace proteus::catalog
