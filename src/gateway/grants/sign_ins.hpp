#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/secrets/process_key.hpp"
#include "base/tasks/task.hpp"
#include "gateway/upstreams/upstreams.hpp"
#include "mcp/reply.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {

// Why a request cannot run before its caller has signed in at an upstream.
struct SignInNeeded {
  ServedUpstream upstream;
  std::vector<std::string> scopes;  // to request, if those of the grant do not suffice; may be empty
  std::string challenge = {};       // WWW-Authenticate of the refusal, if that is why
};

// Asks people to sign in.
class SignIns {
 public:
  virtual ~SignIns() = default;

  // To be called on the worker's thread of the call. Asks the caller, in the way of the call's era, and returns the
  // answer to the call. Returns nothing if the caller has signed in meanwhile: the call is then sent once more.
  virtual Task<std::optional<mcp::Outcome>> ask(server::Call& call, SignInNeeded needed) = 0;

  // Whether each user must connect this upstream and this caller has not. The caller is then listed nothing but a tool
  // that connects it.
  virtual bool must_connect(const server::Caller& caller, const providers::Upstream& upstream) const = 0;

  // Whether a modern call is a retry with the caller's answer to the question.
  virtual bool has_asked(const server::Call& call) const = 0;
  // Returns the only process that can tell whether the call of this state has gone on; empty for any other state, and
  // outside of a cluster.
  virtual ProcessKey holder_of(std::string_view state) const = 0;
  // Returns the answer to such a retry. Returns nothing if the call goes on, once, as if nothing had been asked.
  virtual Task<std::optional<mcp::Outcome>> come_back(server::Call& call) = 0;
};

}  // namespace proteus::gateway
