#pragma once

#include <span>
#include <string_view>

#include <proteus/error.hpp>

#include "json/place.hpp"

namespace proteus::errors {

// A document that breaks rules: "the upstream has 2 faults; url: must be …". All of them are in its data, a JSON array
// of objects with `pointer` and `message`. There is at least one.
Error faults(std::string_view what, std::span<const json::Fault> all);

}  // namespace proteus::errors
