#pragma once

#include <string_view>

#include <boost/json/value.hpp>

namespace proteus::json::schema {

inline constexpr std::string_view kDraft2020Uri = "https://json-schema.org/draft/2020-12/schema";
inline constexpr std::string_view kDraft7Uri = "http://json-schema.org/draft-07/schema";

// Returns a document of the standard by its URI without fragment: a metaschema of either draft or a vocabulary of
// 2020-12. Null for any other URI. Thread-safe; the documents live as long as the program.
const boost::json::value* find_metaschema(std::string_view uri);

}  // namespace proteus::json::schema
