#include "net/fields.hpp"

#include <algorithm>

namespace proteus::net {
namespace {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

}  // namespace

bool same_field_name(std::string_view a, std::string_view b) {
  // Most senders write a name the usual way.
  return a == b || (a.size() == b.size() && std::ranges::equal(a, b, {}, lower, lower));
}

void Fields::rebase(const char* from, const char* to) {
  for (auto& [name, value] : fields_) {
    name = {to + (name.data() - from), name.size()};
    value = {to + (value.data() - from), value.size()};
  }
}

std::optional<std::string_view> Fields::find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(fields_, [&](const Field& field) { return same_field_name(field.name, name); });
  if (found == fields_.end()) return std::nullopt;
  return found->value;
}

std::size_t Fields::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(fields_, [&](const Field& field) { return same_field_name(field.name, name); }));
}

}  // namespace proteus::net
