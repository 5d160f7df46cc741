#include "base/settings/names.hpp"

#include <algorithm>

#include "base/text/visible_text.hpp"

namespace proteus {
namespace {

bool is_ideograph(char32_t c) {
  return (c >= 0x3400 && c <= 0x9fff) || (c >= 0xf900 && c <= 0xfaff) || (c >= 0x20000 && c <= 0x3ffff);
}

// Several scripts join letters, or keep them apart, by these.
bool is_joiner(char32_t c) { return c == 0x200c || c == 0x200d; }

// Japanese names distinguish forms of an ideograph by these (UTS 37). Behind other characters they only hide something.
bool is_ideographic_selector(char32_t c) { return c >= 0xe0100 && c <= 0xe01ef; }

}  // namespace

Result<> check_name(std::string_view name) {
  const bool fits = !name.empty() && name.size() <= 64 && std::ranges::all_of(name, is_name_character) &&
                    name.find_first_not_of('.') != std::string_view::npos;
  if (!fits) return std::unexpected(errors::invalid("must be 1 to 64 letters, digits, hyphens, underscores and dots"));
  return {};
}

Result<> check_display_name(std::string_view name) {
  constexpr std::size_t kLongest = 200;
  bool misleads = name.size() > kLongest;
  char32_t previous = 0;
  while (!misleads && !name.empty()) {
    const FirstCharacter next = first_character(name);
    const char32_t c = next.character;
    const bool has_meaning = is_joiner(c) || (is_ideographic_selector(c) && is_ideograph(previous));
    misleads = next.bytes == 0 || (is_unseen(c) && !has_meaning);
    previous = c;
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
