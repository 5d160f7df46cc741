#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

// Single values as text: quoting, decoding, and reading what is needed of a raw value.
namespace proteus::json {

// Whether every backslash in the inside of a string starts an escape that JSON has, surrogates paired.
bool valid_escapes(std::string_view inside);

// Appends the text as a JSON string, quotes included. The text is UTF-8; bytes that are not become U+FFFD.
void append_quoted(std::string& out, std::string_view text);
std::string quote(std::string_view text);

// The inside of a raw JSON string, decoded. Fails where the raw value is no string.
Result<std::string> decode_string(std::string_view raw);

// A raw string without escapes, as a view of its inside; nothing otherwise.
std::optional<std::string_view> plain_string(std::string_view raw);

// Whether the raw value is an integer number, written as one: no fraction, no exponent.
bool is_integer(std::string_view raw);
std::optional<std::int64_t> as_int64(std::string_view raw);

inline bool is_object(std::string_view raw) { return !raw.empty() && raw.front() == '{'; }
inline bool is_string(std::string_view raw) { return !raw.empty() && raw.front() == '"'; }

// The value of one member of an object, as text; empty where there is none. The text must be known to be JSON, such as
// a part of a scanned message: this only looks for the ends of values.
std::string_view find_member(std::string_view object, std::string_view key);

// A tree of the text, for the parts that are read typed. Depth is bounded; integers of more than 64 bits
// become doubles; an object that has a key twice is refused, because the next reader may pick the other one.
Result<boost::json::value> parse(std::string_view text, std::size_t max_depth = 128);
// Whether `parse` takes the text, at a fraction of its cost: for what is only passed on.
bool parses(std::string_view text, std::size_t max_depth = 128);

}  // namespace proteus::json
