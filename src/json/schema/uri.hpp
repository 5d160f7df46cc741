#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace proteus::json::schema {

// A URI reference in front of and behind its first '#'; an absent fragment and an empty one are the same to a
// schema.
struct UriParts {
  std::string_view uri;
  std::string_view fragment;
};
UriParts split_fragment(std::string_view reference);

// `reference` as seen from `base` (RFC 3986, section 5.2), both without fragment. An empty base leaves the
// reference as it is.
std::string resolve_uri(std::string_view base, std::string_view reference);

// Percent-decoding; nothing for a broken escape.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace proteus::json::schema
