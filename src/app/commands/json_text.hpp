#pragma once

#include <string>
#include <string_view>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/visible_text.hpp"

namespace proteus::app {

// A member that is a text; empty where there is none.
inline std::string string_at(const boost::json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

// A document for programs, on a line of its own; harmless on a terminal, too.
inline std::string json_line(const boost::json::value& document) {
  return visible_json(boost::json::serialize(document)) + "\n";
}

}  // namespace proteus::app
