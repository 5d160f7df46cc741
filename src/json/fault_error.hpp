#pragma once

#include <span>
#include <string_view>

#include <proteus/error.hpp>

#include "json/place.hpp"

namespace proteus::errors {

// Returns the error for a document that breaks rules. The message shows the first fault: "the upstream has 2 faults;
// the first: url: must be …". The data has all faults, as a JSON array of objects with `pointer` and `message`. `all`
// must not be empty.
Error faults(std::string_view what, std::span<const json::Fault> all);

}  // namespace proteus::errors
