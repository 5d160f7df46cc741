#pragma once

#include <string>

#include <proteus/error.hpp>

#include "client/message/facts.hpp"
#include "client/message/transport.hpp"

// Finds out the era of a server from its replies (2026-07-28, "Versioning", "Backward Compatibility").
namespace proteus::client {

// Returns the error for an HTTP status. `excerpt` is the printable beginning of the body.
Error http_error(int status, std::string_view excerpt);

// Returns the error of a reply that is not a result. If the status says that the server cannot serve anybody now (429
// or 5xx), the kind is `unavailable`, even if code, message and data come from a JSON-RPC error.
Error reply_error(const Reply& reply);

struct ProbeVerdict {
  enum class Kind {
    modern,  // `facts` are known
    again,   // a modern server that refused our version although it names a modern one: probe once more
    legacy,  // or at least not known to be modern: `initialize` decides
    fault,   // final: the status says nothing about the era, a modern server refused, or no version is in common
  };
  Kind kind = Kind::legacy;
  ServerFacts facts;
  Error error{ErrorKind::internal, {}};  // if the kind is `fault` or `again`
};

// Judges the reply to `server/discover`. Prefers the modern era if the server speaks both.
ProbeVerdict judge_probe(const Reply& reply);

// Returns whether this reply to `initialize` may come from a server of the HTTP+SSE transport of 2024-11-05.
bool suggests_old_transport(const Reply& reply);

// Returns whether the reply shows that a server believed to be of `era` is of the other era. If so, the request did not
// run.
bool contradicts(const Reply& reply, mcp::Era era);

// Returns whether the reply to a request in a session says that the server does not know the session. Status 404 means
// that. The examples of the official SDK, and many servers modelled on them, answer with 400 and say so in a message
// that does not name the request. If so, the request did not run.
bool says_session_unknown(const Reply& reply);

}  // namespace proteus::client
