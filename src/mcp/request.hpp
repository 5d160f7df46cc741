#pragma once

#include <optional>
#include <string_view>

#include <proteus/error.hpp>

#include "json/message.hpp"
#include "mcp/headers.hpp"
#include "mcp/meta.hpp"
#include "mcp/method.hpp"

namespace proteus::mcp {

// A client's request, with what its era says about it made equal: where a legacy client declared something
// once in its session, a modern one declares it in the request. All views live as long as the message and the
// session's facts.
struct Request {
  Version version = kModern;
  const MethodInfo* method = nullptr;
  const json::Message* message = nullptr;

  std::string_view name;                 // of the tool or prompt, or the URI, decoded; empty where the method has none
  std::string_view client_capabilities;  // JSON object
  std::string_view client_info;          // JSON object; may be empty
  std::string_view progress_token;       // as written; empty: no progress wanted
  std::optional<LogLevel> log_level;     // none: no log messages wanted

  Era era() const { return era_of(version); }
  std::string_view id() const { return message->id; }
  std::string_view param(std::string_view key) const { return message->body.value(key); }
};

}  // namespace proteus::mcp

// Stateless requests: everything is in the message, and mirrored in headers where the transport has them.
namespace proteus::mcp::modern {

// Whether a message is for this codec: told by its `_meta` or its version header, never by its method.
bool claims(const json::Message& message, std::optional<std::string_view> version_header);

// Checks in the order the specification's own suite expects: `_meta`, headers against the body, version,
// method, params. `lookup` is empty on a transport without headers.
Result<Request> decode(json::Message& message, const HeaderLookup& lookup, Eras supported);

}  // namespace proteus::mcp::modern

// Requests within a session, which knows what the client said at its start.
namespace proteus::mcp::legacy {

struct SessionFacts {
  Version version = kNewestLegacy;
  std::string_view client_capabilities;
  std::string_view client_info;
  std::optional<LogLevel> log_level;
};

Result<Request> decode(json::Message& message, const SessionFacts& session);

}  // namespace proteus::mcp::legacy
