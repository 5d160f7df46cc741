#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

// Quotes, decodes and reads single values as raw JSON text.
namespace proteus::json {

// Whether every backslash in the content of a string starts a valid JSON escape, with surrogates in pairs.
bool valid_escapes(std::string_view inside);

// Appends the text as a JSON string with quotes. Bytes that are not valid UTF-8 become U+FFFD.
void append_quoted(std::string& out, std::string_view text);
std::string quote(std::string_view text);

// Returns the decoded content of a raw JSON string. Fails if the value is not a string.
Result<std::string> decode_string(std::string_view raw);

// Returns a view of the content of a raw string without escapes; nothing for any other value.
std::optional<std::string_view> plain_string(std::string_view raw);

// Whether the raw value is a number without fraction and exponent.
bool is_integer(std::string_view raw);
std::optional<std::int64_t> as_int64(std::string_view raw);

inline bool is_object(std::string_view raw) { return !raw.empty() && raw.front() == '{'; }
inline bool is_string(std::string_view raw) { return !raw.empty() && raw.front() == '"'; }

// Returns the raw value of a member; empty if there is none or the value is not an object. The text must be valid JSON,
// such as a part of a scanned message: this function only looks for the ends of values.
std::string_view find_member(std::string_view object, std::string_view key);

// Parses the text into a tree. Integers of more than 64 bits become doubles. Fails if the nesting exceeds `max_depth`,
// if an object has more than 5,792 members or the text has too many large objects, or if an object has a duplicate key,
// because the next reader may pick the other value.
Result<boost::json::value> parse(std::string_view text, std::size_t max_depth = 128);
// Whether `parse` accepts the text, at a fraction of its cost, but without a limit of members. For texts that are only
// forwarded.
bool parses(std::string_view text, std::size_t max_depth = 128);

}  // namespace proteus::json
