#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include <boost/json/value.hpp>

namespace proteus::catalog {

template <std::size_t N>
bool among(const std::array<std::string_view, N>& keys, std::string_view key) {
  return std::ranges::find(keys, key) != keys.end();
}

// Returns a schema, or an array of schemas, without keywords that do not constrain values: titles, descriptions,
// examples and the like.
boost::json::value without_annotations(const boost::json::value& schema);

// Whether a reference of the schema leads into a member that without_annotations removes, such as `#/x-defs/A`.
bool refers_to_annotations(const boost::json::value& schema);

// Whether a schema has a keyword under which a wider schema accepts less.
bool inverts(const boost::json::value& schema);

}  // namespace proteus::catalog
