#pragma once

#include <span>
#include <string>
#include <string_view>

namespace proteus {

// The candidate that was probably meant by a name nobody knows: a slip or two away, in another case or with other
// separators, or the beginning of it. Empty where none is near. Looks at a bounded number of candidates of bounded
// length.
std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates);
// "; did you mean x?", to be put behind a message; empty where none is near.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace proteus
