#include "base/names.hpp"

#include <algorithm>

namespace proteus {

Result<> check_name(std::string_view name) {
  const bool fits = !name.empty() && name.size() <= 64 && std::ranges::all_of(name, is_name_character) &&
                    name.find_first_not_of('.') != std::string_view::npos;
  if (!fits) return std::unexpected(errors::invalid("must be 1 to 64 letters, digits, hyphens, underscores and dots"));
  return {};
}

}  // namespace proteus
