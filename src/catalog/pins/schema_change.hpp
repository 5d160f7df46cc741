#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/json/value.hpp>

namespace proteus::catalog {

// Whether a schema is of what callers send, or of what they receive.
enum class SchemaOf : std::uint8_t { input, output };

// Why a change of a schema may break callers that know only the old one, in words; empty where it cannot. Input breaks
// where something that was accepted may now be refused or ignored; output where something may now come that was
// excluded.
//
// Annotations (title, description, default, examples, …) do not count, and neither does a new optional property: a
// caller that does not know a property does not send it. A change of anything this cannot reason about is said to be
// one that cannot be shown to be compatible. The work is bounded; beyond the bound that is the answer, too.
std::vector<std::string> breaking_changes(const boost::json::value& before, const boost::json::value& after,
                                          SchemaOf direction);

}  // namespace proteus::catalog
