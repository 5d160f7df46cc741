#include "base/names.hpp"

#include <algorithm>

namespace proteus {

Result<> check_name(std::string_view name) {
  const bool fits = !name.empty() && name.size() <= 64 && std::ranges::all_of(name, is_name_character) &&
                    name.find_first_not_of('.') != std::string_view::npos;
  if (!fits) return std::unexpected(errors::invalid("must be 1 to 64 letters, digits, hyphens, underscores and dots"));
  return {};
}

Result<> check_display_name(std::string_view name) {
  constexpr std::size_t kLongest = 200;
  const auto byte = [&](std::size_t at) { return at < name.size() ? static_cast<unsigned char>(name[at]) : 0U; };
  bool misleads = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const unsigned first = byte(i);
    const unsigned second = byte(i + 1);
    const unsigned third = byte(i + 2);
    misleads = misleads || first < 0x20 || first == 0x7f || (first == 0xc2 && second < 0xa0) ||  // controls
               (first == 0xe2 && second == 0x80 && third >= 0xa8 && third <= 0xae) ||            // U+2028 to U+202E
               (first == 0xe2 && second == 0x81 && third >= 0xa6 && third <= 0xa9);              // U+2066 to U+2069
  }
  if (misleads || name.size() > kLongest) {
    return std::unexpected(errors::invalid(
        "must be at most 200 bytes, without control characters, line breaks and marks that change the direction"));
  }
  return {};
}

}  // namespace proteus
