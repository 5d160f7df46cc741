#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

namespace proteus::json {

// Returns the same text for equal values: no white space, keys ordered by their UTF-16 code units, numbers in their
// shortest form, escapes only where needed (the ideas of RFC 8785). Integers of up to 64 bits keep all digits;
// infinity, to which `parse` rounds larger numbers, is written as 1e999. A tree has already rounded its numbers: to
// decide whether two texts are equal, use `canonical_text`.
std::string canonical(const boost::json::value& value);

// Returns the canonical form of a JSON text with exact numbers: 1, 1.0 and 10e-1 give the same text, but different
// numbers that round to the same double do not. If no number needs rounding, the form is that of the tree, so the
// hashes agree. Takes linear time except for sorting keys. Fails if the text is not JSON, an object has a duplicate
// key, an exponent exceeds 10^12, or the nesting exceeds 128.
Result<std::string> canonical_text(std::string_view text);

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::string_view bytes);
std::string hex(const Digest& digest);
std::string base64url(const Digest& digest);

// Returns the SHA-256 of `canonical_text`, for example of a definition, or of arguments that something is bound to.
// Fails if `canonical_text` fails.
Result<Digest> canonical_hash(std::string_view text);

}  // namespace proteus::json
