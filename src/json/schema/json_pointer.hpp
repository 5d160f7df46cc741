#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

namespace proteus::json::schema {

// Appends "/" and the token, escaped as RFC 6901 asks.
void append_pointer_token(std::string& pointer, std::string_view token);

// Takes the first token off `pointer`, which starts with "/", and undoes its escapes. Nothing for a broken
// escape.
std::optional<std::string> take_pointer_token(std::string_view& pointer);

// One step of a pointer: the member or the item a token names; null for none.
const boost::json::value* step_into(const boost::json::value& value, std::string_view token);

}  // namespace proteus::json::schema
