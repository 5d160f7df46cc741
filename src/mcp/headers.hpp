#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

// The rules that tie HTTP headers to the body: Streamable HTTP of 2026-07-28, "Request Metadata".
namespace proteus::mcp {

namespace header {
inline constexpr std::string_view kProtocolVersion = "MCP-Protocol-Version";
inline constexpr std::string_view kMethod = "Mcp-Method";
inline constexpr std::string_view kName = "Mcp-Name";
inline constexpr std::string_view kParameterPrefix = "Mcp-Param-";
inline constexpr std::string_view kSessionId = "Mcp-Session-Id";
inline constexpr std::string_view kLastEventId = "Last-Event-ID";
}  // namespace header

// A value as a header can carry it: itself, or in the Base64 form where it could not be told from something
// else or would not survive.
std::string encode_header_value(std::string_view value);
// Back again. Fails on characters a header must not have, and on Base64 that is not exactly canonical.
Result<std::string> decode_header_value(std::string_view value);

// One annotated parameter of a tool: where it is in the arguments, and which header mirrors it.
struct MirroredParameter {
  enum class Type { string, integer, boolean };
  std::string header;             // with the prefix
  std::vector<std::string> path;  // keys of `properties`, from the root
  Type type;
};

// The `x-mcp-header` annotations of an input schema. Fails, with the reason, where one of them breaks a rule;
// such a tool must not be offered over Streamable HTTP. Takes time linear in the schema; what is found is bounded.
Result<std::vector<MirroredParameter>> mirrored_parameters(const boost::json::value& input_schema);

// The headers that go with these arguments, ready for the wire.
Result<std::vector<std::pair<std::string, std::string>>> mirror(const std::vector<MirroredParameter>& parameters,
                                                                const boost::json::value& arguments);

// Looks a header up by name, without regard to case.
using HeaderLookup = std::function<std::optional<std::string_view>(std::string_view name)>;

// Whether a header may be missing: a client that was shown no annotation cannot know of it.
enum class MissingHeader : std::uint8_t { refused, allowed };

// Whether the headers say what the arguments say; the error is a HeaderMismatch.
Result<void> check_mirrored(const std::vector<MirroredParameter>& parameters, const boost::json::value& arguments,
                            const HeaderLookup& lookup, MissingHeader missing = MissingHeader::refused);

// `Mcp-Name` against the name or URI of the body.
Result<void> check_name_header(std::optional<std::string_view> header, std::string_view expected);

}  // namespace proteus::mcp
