#pragma once

#include <string>

#include <proteus/error.hpp>

#include "client/message/facts.hpp"
#include "client/message/transport.hpp"

// Which era a server is of, told from what it answers (2026-07-28, "Versioning", "Backward Compatibility").
namespace proteus::client {

// The error that an HTTP status stands for.
Error http_error(int status, std::string_view excerpt);

// The error of a reply that has none of the answers a request can have. Where the status says that the server cannot
// serve anybody now (429 or 5xx), so does the kind, also where the code, message and data are of a JSON-RPC error.
Error reply_error(const Reply& reply);

struct ProbeVerdict {
  enum class Kind {
    modern,  // `facts` are known
    again,   // a modern server that names our version among those it speaks, but refused it: ask once more
    legacy,  // or at least not known to be modern: `initialize` will tell
    fault,   // says nothing about the era: not reachable, not allowed, or no version in common
  };
  Kind kind = Kind::legacy;
  ServerFacts facts;
  Error error{ErrorKind::internal, {}};  // of a fault
};

// Judges the reply to `server/discover`. A server that answers it may still speak the legacy era as well;
// modern is then preferred.
ProbeVerdict judge_probe(const Reply& reply);

// Whether a refusal of `initialize` may come from a server of the HTTP+SSE transport of 2024-11-05.
bool suggests_old_transport(const Reply& reply);

// Whether a reply shows that a server taken for this era is of the other one. The request did not run then.
bool contradicts(const Reply& reply, mcp::Era era);

// Whether a reply to a request of a session says that the server does not know the session. 404 says so; the examples
// of the official SDK, and the many servers made after them, answer with 400 and say it in words. The request did not
// run.
bool says_session_unknown(const Reply& reply);

}  // namespace proteus::client
