#include "json/schema/json_pointer.hpp"

#include <charconv>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace proteus::json::schema {

void append_pointer_token(std::string& pointer, std::string_view token) {
  pointer.push_back('/');
  for (const char c : token) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer.push_back(c);
    }
  }
}

std::optional<std::string> take_pointer_token(std::string_view& pointer) {
  pointer.remove_prefix(1);
  const std::string_view escaped = pointer.substr(0, pointer.find('/'));
  pointer.remove_prefix(escaped.size());
  std::string token;
  token.reserve(escaped.size());
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    if (escaped[i] != '~') {
      token.push_back(escaped[i]);
      continue;
    }
    ++i;
    if (i == escaped.size() || (escaped[i] != '0' && escaped[i] != '1')) return std::nullopt;
    token.push_back(escaped[i] == '0' ? '~' : '/');
  }
  return token;
}

const boost::json::value* step_into(const boost::json::value& value, std::string_view token) {
  if (const auto* object = value.if_object()) return object->if_contains(token);
  const auto* array = value.if_array();
  if (array == nullptr || token.empty() || (token.size() > 1 && token.front() == '0')) return nullptr;
  std::size_t index = 0;
  const char* const begin = token.data();
  const char* const end = begin + token.size();
  const auto [at, error] = std::from_chars(begin, end, index);
  if (at != end || error != std::errc{}) return nullptr;
  return array->if_contains(index);
}

}  // namespace proteus::json::schema
