#pragma once

#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "mcp/version.hpp"

namespace proteus::mcp {

// Codes of JSON-RPC and of the revisions of the protocol.
namespace code {
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;
inline constexpr int kLegacyResourceNotFound = -32002;
inline constexpr int kLegacyUrlElicitationRequired = -32042;
inline constexpr int kHeaderMismatch = -32020;
inline constexpr int kMissingClientCapability = -32021;
inline constexpr int kUnsupportedVersion = -32022;
}  // namespace code

// Returns the JSON-RPC code of an error in an era. Only this function and `write_error` (mcp/jsonrpc.hpp) turn an
// `Error` into JSON-RPC. An error from a peer keeps its code, unless the code is not allowed in the era or would
// mislead the caller: a peer that rejects our headers or our version has not rejected the caller's.
int rpc_code(const Error& error, Era era);

// Returns the HTTP status of an answer that is a JSON-RPC error. Most errors are ordinary answers with 200, including
// those from a peer. A 4xx status says that the request itself was wrong for this server, over a limit or without a
// required scope; modern answers about missing client capabilities have 400, even those from a peer.
unsigned http_status(const Error& error, Era era);

// Whether an error code in an answer proves that the sender is a modern server.
bool is_modern_code(int code);

}  // namespace proteus::mcp

namespace proteus::mcp::errors {

Error invalid_request(std::string message);
Error invalid_params(std::string message);
// The error for a modern request without the required `_meta`. It has the code of invalid params, but the HTTP status
// of a malformed request (2026-07-28, "Per-request protocol fields").
Error malformed_meta(std::string message);
Error method_not_found(std::string_view method);
Error unknown_tool(std::string_view name);
Error unknown_prompt(std::string_view name);
Error resource_not_found(std::string_view uri);
Error header_mismatch(std::string message);
Error unsupported_version(std::string_view requested, Eras supported);
// `capabilities` is a JSON object with the required ones, such as {"sampling":{}}.
Error missing_capability(std::string capabilities);
// The error for an error answer from a peer.
Error remote(int code, std::string message, std::string data);

}  // namespace proteus::mcp::errors
