#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/json/value.hpp>

namespace proteus::catalog {

// Whether a schema describes what callers send or what they receive.
enum class SchemaOf : std::uint8_t { input, output };

// Returns in words why a change of a schema may break callers that know only the old one; empty if it cannot. A change
// of input is breaking if something that was accepted may now be rejected or ignored, and one of output if something
// that was excluded may now come.
//
// Annotations (title, description, default, examples, …) do not count, unless a reference of either schema leads into
// one. Neither does a new optional property: callers that do not know a property do not send it. A change that this
// function cannot reason about counts as breaking and is described as one that cannot be shown to be compatible. The
// work is bounded; a comparison that exceeds the bound ends in the same way.
std::vector<std::string> breaking_changes(const boost::json::value& before, const boost::json::value& after,
                                          SchemaOf direction);

}  // namespace proteus::catalog
