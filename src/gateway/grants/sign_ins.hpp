#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/task.hpp"
#include "gateway/upstreams/upstreams.hpp"
#include "mcp/reply.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {

// Why a request cannot run before its caller has signed in at an upstream.
struct SignInNeeded {
  ServedUpstream upstream;
  std::vector<std::string> scopes;  // that the upstream asks for besides those it was granted before; may be empty
  std::string challenge = {};       // the WWW-Authenticate of its refusal, where that is why
};

// Who asks people to sign in.
class SignIns {
 public:
  virtual ~SignIns() = default;

  // On the worker's thread of the call. What the call is answered, in the way of its era; nothing where the caller has
  // signed in meanwhile: the call is then sent, once.
  virtual Task<std::optional<mcp::Outcome>> ask(server::Call& call, SignInNeeded needed) = 0;

  // Whether each user connects this upstream, and this caller has not: all it is listed then is a tool that connects
  // it.
  virtual bool must_connect(const server::Caller& caller, const providers::Upstream& upstream) const = 0;

  // Whether a modern call comes back with what its caller said to the question.
  virtual bool has_asked(const server::Call& call) const = 0;
  // What such a call is answered; nothing where it goes on, as if it had not been asked: once.
  virtual Task<std::optional<mcp::Outcome>> come_back(server::Call& call) = 0;
};

}  // namespace proteus::gateway
