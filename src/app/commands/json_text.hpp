#pragma once

#include <string>
#include <string_view>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/text/visible_text.hpp"

namespace proteus::app {

// Returns a string member; empty if there is none.
inline std::string string_at(const boost::json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

// Like the other `string_at`; empty also if the value is not an object.
inline std::string string_at(const boost::json::value& value, std::string_view key) {
  const auto* object = value.if_object();
  return object != nullptr ? string_at(*object, key) : std::string();
}

// Returns a document as one line for programs. Control characters are escaped, so it is also safe on a terminal.
inline std::string json_line(const boost::json::value& document) {
  return visible_json(boost::json::serialize(document)) + "\n";
}

}  // namespace proteus::app
