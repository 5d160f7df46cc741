#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace proteus::catalog {

// A text without the sentences that `leaves_out` picks. A sentence ends with its line, or with a full stop, an
// exclamation mark or a question mark before a space. Takes time proportional to the text.
std::string without_sentences(std::string_view text, const std::function<bool(std::string_view sentence)>& leaves_out);

}  // namespace proteus::catalog
