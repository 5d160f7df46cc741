#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace proteus::catalog {

// Returns the plain spellings of a URI to compare with patterns: what its server may understand in the end, so that no
// other spelling evades rules for URIs. Decodes percent encodings, writes scheme and host in lower case, resolves `.`,
// `..` and empty segments of the path, writes a port of http or https without leading zeros, and has one form for
// `file:` URIs without host and with `localhost`. There is one spelling, except for http and https at their default
// port: first the one without the port, then the one with it. Every other host stays, with its user and port.
//
// Returns nothing if the meaning depends on the reader: a control character, which URL parsers drop (WHATWG URL, 4.4),
// or a space at either end; an encoded slash, backslash or percent sign; a percent sign that encodes nothing; a
// backslash; a path that climbs above its root; a `..` in the query or fragment; a `file:` URI with a relative path.
std::vector<std::string> plain_uris(std::string_view uri);

// Returns the forms of a rule's pattern (with `*` and `?`) to compare with plain URIs: normalized in the same way,
// except for path segments. Wildcards may stand in scheme and host. A `?` after the host is a wildcard in it or begins
// the query, and only the host is in lower case, so there is a form for each reading. A reading that cannot be
// normalized has the pattern itself as its form.
std::vector<std::string> plain_uri_patterns(std::string_view pattern);

}  // namespace proteus::catalog
