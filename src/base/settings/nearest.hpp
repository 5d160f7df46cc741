#pragma once

#include <span>
#include <string>
#include <string_view>

namespace proteus {

// Returns the candidate that an unknown name probably means: it differs by a slip or two, by case or by separators, or
// one of the two begins with the other. Empty if no candidate is near. Compares a bounded number of candidates of
// bounded length.
std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates);
// Returns "; did you mean x?", to append to a message; empty if no candidate is near.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace proteus
