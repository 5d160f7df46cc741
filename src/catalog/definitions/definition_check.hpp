#pragma once

#include <cstdint>
#include <vector>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

#include "catalog/definitions/kind.hpp"
#include "mcp/headers.hpp"

namespace proteus::catalog {

// Whether the provider supports tasks of 2025-11-25. If not, a tool that can be called only as a task is useless.
enum class Tasks : std::uint8_t { not_spoken, spoken };

// Fails if a definition does not have the shape that the specification gives its kind, as far as one malformed
// definition makes clients reject a whole list. The error says what is wrong. For a tool, returns the parameters it
// mirrors in headers.
Result<std::vector<mcp::MirroredParameter>> check_definition(Kind kind, const boost::json::value& definition,
                                                             Tasks tasks = Tasks::not_spoken);

// Whether a tool declares that it changes nothing. The tool must have passed `check_definition`.
bool declares_read_only(const boost::json::value& tool);
// Whether a tool rejects every call that is not a task (2025-11-25, "Tool-Level Negotiation").
bool needs_task(const boost::json::value& tool);

}  // namespace proteus::catalog
