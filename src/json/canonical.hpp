#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

namespace proteus::json {

// The same text for the same value: no white space, keys in order of their UTF-16 code units, numbers in
// their shortest form, escapes only where needed (the ideas of RFC 8785). Integers of up to 64 bits keep all
// their digits; a number too large for a double is written as one that is read back as infinity. A tree has
// rounded its numbers: to decide whether two texts say the same, use `canonical_text`.
std::string canonical(const boost::json::value& value);

// The canonical form of a JSON text, with numbers compared exactly as they are written: 1, 1.0 and 10e-1 are the same,
// and two numbers that a double cannot tell apart are not. Otherwise it is the form of the tree, so that hashes of
// ordinary texts agree. Linear in the text but for sorting keys. Fails where the text is not JSON, or has a key twice
// in an object.
Result<std::string> canonical_text(std::string_view text);

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::string_view bytes);
std::string hex(const Digest& digest);

// The hash of `canonical_text`: of a definition, or of arguments that something is bound to. Fails where that does.
Result<Digest> canonical_hash(std::string_view text);

}  // namespace proteus::json
