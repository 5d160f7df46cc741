#include "json/unique_keys.hpp"

#include <functional>
#include <span>

#include "json/message.hpp"
#include "json/text.hpp"
#include "json/tokens.hpp"

namespace proteus::json {

std::string_view UniqueKeys::decode(std::string_view raw) { return decoded(raw, decoded_); }

bool UniqueKeys::are_unique() {
  constexpr std::size_t kFew = 12;
  const std::span keys(keys_.data() + first_, keys_.size() - first_);
  if (keys.size() > kFew) {
    std::ranges::sort(keys, std::less<>());
    return std::ranges::adjacent_find(keys) == keys.end();
  }
  for (std::size_t one = 1; one < keys.size(); ++one) {
    for (std::size_t other = 0; other < one; ++other) {
      if (keys[one] == keys[other]) return false;
    }
  }
  return true;
}

bool UniqueKeys::is_long(std::string_view value) {
  const std::size_t mark = value.find_first_of("eE");
  return mark != std::string_view::npos && value.size() - mark > kLongExponent;
}

bool parses(std::string_view text, std::size_t max_depth) {
  auto tokens = Tokens::of(text, max_depth);
  if (!tokens) return false;
  UniqueKeys keys;
  if (tokens->take_value(keys).empty() || !tokens->done()) return false;
  return !keys.has_long_exponent() || parse(text, max_depth).has_value();
}

}  // namespace proteus::json
