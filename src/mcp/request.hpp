#pragma once

#include <optional>
#include <string_view>

#include <proteus/error.hpp>

#include "json/message.hpp"
#include "mcp/headers.hpp"
#include "mcp/meta.hpp"
#include "mcp/method.hpp"

namespace proteus::mcp {

// A client's request in a form that is the same for both eras: facts that a legacy client declares once per session are
// in each request of a modern client. The message and the session's facts must outlive it.
struct Request {
  Version version = kModern;
  const MethodInfo* method = nullptr;
  const json::Message* message = nullptr;

  std::string_view name;                 // decoded name, URI or task id; empty if the method has none
  std::string_view client_capabilities;  // JSON object
  std::string_view client_info;          // JSON object; may be empty
  std::string_view progress_token;       // raw; empty if the client wants no progress
  std::optional<LogLevel> log_level;     // absent if the client wants no log messages

  Era era() const { return era_of(version); }
  std::string_view id() const { return message->id; }
  std::string_view param(std::string_view key) const { return message->body.value(key); }
};

}  // namespace proteus::mcp

// Stateless requests: everything is in the message, and partly mirrored in headers if the transport has them.
namespace proteus::mcp::modern {

// Whether a message belongs to the modern era, judged by its `_meta` or its version header, never by its method.
bool claims(const json::Message& message, std::optional<std::string_view> version_header);

// Decodes a request. Checks in the order that the specification's own test suite expects: `_meta`, headers for version
// and method, version, method, params, `Mcp-Name`. `lookup` is empty on a transport without headers.
Result<Request> decode(json::Message& message, const HeaderLookup& lookup, Eras supported);

}  // namespace proteus::mcp::modern

// Requests within a session, which keeps what the client declared in the handshake.
namespace proteus::mcp::legacy {

struct SessionFacts {
  Version version = kNewestLegacy;
  std::string_view client_capabilities;
  std::string_view client_info;
  std::optional<LogLevel> log_level;
};

Result<Request> decode(json::Message& message, const SessionFacts& session);

}  // namespace proteus::mcp::legacy
