#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace proteus::catalog {

// Returns the text without the sentences for which `leaves_out` is true. A sentence ends with its line, or with a full
// stop, exclamation mark or question mark before a space. Takes time proportional to the length of the text.
std::string without_sentences(std::string_view text, const std::function<bool(std::string_view sentence)>& leaves_out);

}  // namespace proteus::catalog
