#include "mcp/errors.hpp"

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "json/text.hpp"
#include "mcp/insufficient_scope.hpp"
#include "mcp/over_limit.hpp"

namespace proteus::mcp {

namespace {

// The range that 2026-07-28 reserves for its own codes ("Error Codes").
constexpr bool is_reserved(int code) { return code <= -32020 && code >= -32099; }

bool is_from_peer(const Error& error) {
  return error.kind() == ErrorKind::remote || error.kind() == ErrorKind::unavailable;
}

int own_code(const Error& error) {
  if (error.rpc_code() != 0) return error.rpc_code();
  switch (error.kind()) {
    case ErrorKind::invalid:
    case ErrorKind::not_found: return code::kInvalidParams;
    case ErrorKind::unsupported: return code::kMethodNotFound;
    case ErrorKind::too_large: return code::kInvalidRequest;
    default: return code::kInternalError;
  }
}

}  // namespace

int rpc_code(const Error& error, Era era) {
  const int code = own_code(error);
  const bool about_us = code == code::kHeaderMismatch || code == code::kUnsupportedVersion;
  if (is_from_peer(error) && about_us) return code::kInternalError;
  if (era == Era::legacy) return code;
  if (code == code::kLegacyResourceNotFound || code == code::kLegacyUrlElicitationRequired) {
    return code::kInvalidParams;
  }
  return is_reserved(code) && !is_modern_code(code) ? code::kInternalError : code;
}

unsigned http_status(const Error& error, Era era) {
  const int code = rpc_code(error, era);
  const bool modern = era == Era::modern;
  if (code == code::kMissingClientCapability) return modern ? 400 : 200;
  if (is_from_peer(error)) return 200;
  if (retry_after(error).count() > 0) return 429;
  if (lacks_scope(error)) return 403;
  switch (code) {
    case code::kParseError:
    case code::kInvalidRequest: return error.kind() == ErrorKind::too_large ? 413 : 400;
    case code::kInvalidParams: return modern && error.kind() == ErrorKind::protocol ? 400 : 200;
    case code::kMethodNotFound: return modern ? 404 : 200;
    case code::kHeaderMismatch:
    case code::kUnsupportedVersion: return 400;
    default: return 200;
  }
}

bool is_modern_code(int code) {
  return code == code::kHeaderMismatch || code == code::kMissingClientCapability || code == code::kUnsupportedVersion;
}

}  // namespace proteus::mcp

namespace proteus::mcp::errors {

Error invalid_request(std::string message) {
  return Error(ErrorKind::invalid, std::move(message)).with_rpc_code(code::kInvalidRequest);
}

Error invalid_params(std::string message) {
  return Error(ErrorKind::invalid, std::move(message)).with_rpc_code(code::kInvalidParams);
}

Error malformed_meta(std::string message) {
  return Error(ErrorKind::protocol, std::move(message)).with_rpc_code(code::kInvalidParams);
}

Error method_not_found(std::string_view method) {
  return Error(ErrorKind::unsupported, fmt::format("Method not found: {}", log::printable(method)))
      .with_rpc_code(code::kMethodNotFound);
}

Error unknown_tool(std::string_view name) {
  return Error(ErrorKind::not_found,
               fmt::format("Unknown tool: {}. The list of tools may have changed; list them again.",
                           log::printable(name)))
      .with_rpc_code(code::kInvalidParams);
}

Error unknown_prompt(std::string_view name) {
  return Error(ErrorKind::not_found,
               fmt::format("Unknown prompt: {}. The list of prompts may have changed; list them again.",
                           log::printable(name)))
      .with_rpc_code(code::kInvalidParams);
}

Error resource_not_found(std::string_view uri) {
  return Error(ErrorKind::not_found, fmt::format("Resource not found: {}", log::printable(uri)))
      .with_rpc_code(code::kLegacyResourceNotFound)
      .with_data(fmt::format(R"({{"uri":{}}})", json::quote(uri)));
}

Error header_mismatch(std::string message) {
  return Error(ErrorKind::invalid, "Header mismatch: " + std::move(message)).with_rpc_code(code::kHeaderMismatch);
}

// An error repeats the version that the caller sent only up to this many bytes, so that it does not grow with the
// request.
constexpr std::size_t kLongestVersion = 256;

Error unsupported_version(std::string_view requested, Eras supported) {
  return Error(ErrorKind::unsupported, fmt::format("Unsupported protocol version: {}", log::printable(requested)))
      .with_rpc_code(code::kUnsupportedVersion)
      .with_data(fmt::format(R"({{"supported":{},"requested":{}}})", supported_versions_json(supported),
                             json::quote(requested.size() <= kLongestVersion ? requested : "(too long)")));
}

Error missing_capability(std::string capabilities) {
  return Error(ErrorKind::unsupported,
               fmt::format("The client did not declare a capability this request needs: {}", capabilities))
      .with_rpc_code(code::kMissingClientCapability)
      .with_data(fmt::format(R"({{"requiredCapabilities":{}}})", capabilities));
}

Error remote(int code, std::string message, std::string data) {
  return Error(ErrorKind::remote, std::move(message)).with_rpc_code(code).with_data(std::move(data));
}

}  // namespace proteus::mcp::errors
