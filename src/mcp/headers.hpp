#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

// Rules for HTTP headers that mirror the body: Streamable HTTP of 2026-07-28, "Request Metadata".
namespace proteus::mcp {

namespace header {
inline constexpr std::string_view kProtocolVersion = "MCP-Protocol-Version";
inline constexpr std::string_view kMethod = "Mcp-Method";
inline constexpr std::string_view kName = "Mcp-Name";
inline constexpr std::string_view kParameterPrefix = "Mcp-Param-";
inline constexpr std::string_view kSessionId = "Mcp-Session-Id";
inline constexpr std::string_view kLastEventId = "Last-Event-ID";
}  // namespace header

// Encodes a value for a header: unchanged, or in the Base64 form if the value would be ambiguous or might not survive.
std::string encode_header_value(std::string_view value);
// Decodes a header value. Fails on characters that a header must not have, and on Base64 that is not canonical.
Result<std::string> decode_header_value(std::string_view value);

// An annotated parameter of a tool: its path in the arguments, and the header that mirrors it.
struct MirroredParameter {
  enum class Type { string, integer, boolean };
  std::string header;             // name with the prefix
  std::vector<std::string> path;  // keys of `properties`, from the root
  Type type;
};

// Returns the parameters with `x-mcp-header` annotations in an input schema. Fails with the reason if an annotation
// breaks a rule; such a tool must not be offered over Streamable HTTP. Takes time linear in the schema; the size of the
// result is bounded.
Result<std::vector<MirroredParameter>> mirrored_parameters(const boost::json::value& input_schema);

// Returns the encoded headers for these arguments. Fails if an argument does not have the type in its schema.
Result<std::vector<std::pair<std::string, std::string>>> mirror(const std::vector<MirroredParameter>& parameters,
                                                                const boost::json::value& arguments);

// Returns the value of a header by its name, ignoring case; nothing if it is absent.
using HeaderLookup = std::function<std::optional<std::string_view>(std::string_view name)>;

// Whether a header may be missing: a client that has not seen the annotation cannot know about the header.
enum class MissingHeader : std::uint8_t { refused, allowed };

// Checks that the headers match the arguments. Fails with a HeaderMismatch error.
Result<void> check_mirrored(const std::vector<MirroredParameter>& parameters, const boost::json::value& arguments,
                            const HeaderLookup& lookup, MissingHeader missing = MissingHeader::refused);

// Checks `Mcp-Name` against the name, URI or task id in the body.
Result<void> check_name_header(std::optional<std::string_view> header, std::string_view expected);

}  // namespace proteus::mcp
