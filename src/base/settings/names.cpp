#include "base/settings/names.hpp"

#include <algorithm>

#include "base/text/visible_text.hpp"

namespace proteus {

Result<> check_name(std::string_view name) {
  const bool fits = !name.empty() && name.size() <= 64 && std::ranges::all_of(name, is_name_character) &&
                    name.find_first_not_of('.') != std::string_view::npos;
  if (!fits) return std::unexpected(errors::invalid("must be 1 to 64 letters, digits, hyphens, underscores and dots"));
  return {};
}

Result<> check_display_name(std::string_view name) {
  constexpr std::size_t kLongest = 200;
  // Several scripts join letters, or keep them apart, by these.
  constexpr char32_t kNonJoiner = 0x200c;
  constexpr char32_t kJoiner = 0x200d;
  bool misleads = name.size() > kLongest;
  while (!misleads && !name.empty()) {
    const FirstCharacter next = first_character(name);
    const bool joins = next.character == kNonJoiner || next.character == kJoiner;
    misleads = next.bytes == 0 || (is_unseen(next.character) && !joins);
    name.remove_prefix(std::max<std::size_t>(next.bytes, 1));
  }
  if (misleads) {
    return std::unexpected(errors::invalid(
        "must be at most 200 bytes of UTF-8, without control characters, line breaks, invisible characters and marks "
        "that change the direction"));
  }
  return {};
}

}  // namespace proteus
