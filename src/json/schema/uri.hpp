#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace proteus::json::schema {

// A URI reference, split at its first '#'. An absent fragment and an empty one mean the same in a schema.
struct UriParts {
  std::string_view uri;
  std::string_view fragment;
};
UriParts split_fragment(std::string_view reference);

// Resolves `reference` against `base` (RFC 3986, section 5.2), both without fragment. An empty base leaves the
// reference unchanged.
std::string resolve_uri(std::string_view base, std::string_view reference);

// Returns the percent-decoded text; nothing if an escape is broken.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace proteus::json::schema
