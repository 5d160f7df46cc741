#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace proteus::catalog {

// A URI as whoever serves it may read it in the end, so that rules for URIs cannot be evaded by another spelling:
// percent encodings decoded, scheme and host in lower case, `.`, `..` and empty segments of the path resolved, and one
// form for files of the local host.
//
// Nothing where it depends on the reader what it means: an encoded slash, backslash, percent or control character, a
// percent sign that encodes nothing, a backslash, a path that climbs above its root.
std::optional<std::string> plain_uri(std::string_view uri);

// A pattern of such rules, with `*` and `?`, for what `plain_uri` gives: with all of that but the segments. The pattern
// itself where that has no meaning.
std::string plain_uri_pattern(std::string_view pattern);

}  // namespace proteus::catalog
