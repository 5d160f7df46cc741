#pragma once

#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "mcp/version.hpp"

namespace proteus::mcp {

// The codes of JSON-RPC and of the protocol's revisions.
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

// How an error reads in an era. Together with `write_error` (mcp/jsonrpc.hpp) this is the one place where an
// `Error` becomes JSON-RPC. What a peer answered with keeps its code, unless the code would say something
// untrue about this side: a peer that rejects our headers or our version has not rejected the caller's.
int rpc_code(const Error& error, Era era);

// The HTTP status that goes with a JSON-RPC error that answers a request. Most errors are answers like
// others, and all that a peer answered with are; those that say the request itself was wrong for this server
// have a status of their own.
unsigned http_status(const Error& error, Era era);

// Whether a code received in an answer identifies the sender as a modern server.
bool is_modern_code(int code);

}  // namespace proteus::mcp

namespace proteus::mcp::errors {

Error invalid_request(std::string message);
Error invalid_params(std::string message);
// A modern request without the `_meta` that every one must have. The code is that of invalid params, but the
// HTTP status says that the request as a whole is wrong (2026-07-28, "Per-request protocol fields").
Error malformed_meta(std::string message);
Error method_not_found(std::string_view method);
Error unknown_tool(std::string_view name);
Error unknown_prompt(std::string_view name);
Error resource_not_found(std::string_view uri);
Error header_mismatch(std::string message);
Error unsupported_version(std::string_view requested, Eras supported);
// `capabilities`: what is needed, as a JSON object such as {"sampling":{}}.
Error missing_capability(std::string capabilities);
// An error that a peer answered with.
Error remote(int code, std::string message, std::string data);

}  // namespace proteus::mcp::errors
