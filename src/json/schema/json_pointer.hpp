#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

namespace proteus::json::schema {

// Appends "/" and the token, escaped as RFC 6901 requires.
void append_pointer_token(std::string& pointer, std::string_view token);

// Removes the first token from `pointer`, which must start with "/", and returns it unescaped; nothing if an escape is
// broken.
std::optional<std::string> take_pointer_token(std::string_view& pointer);

// Returns the member or item that a token names; null if there is none.
const boost::json::value* step_into(const boost::json::value& value, std::string_view token);

}  // namespace proteus::json::schema
