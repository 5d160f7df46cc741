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
// their digits; a number too large for a double is written as one that is read back as infinity.
std::string canonical(const boost::json::value& value);

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::string_view bytes);
std::string hex(const Digest& digest);

// The hash of a definition: of its canonical form. Fails where the text is not JSON, or has a key twice in an
// object.
Result<Digest> canonical_hash(std::string_view text);

}  // namespace proteus::json
