#pragma once

#include <optional>
#include <string>
#include <vector>

#include <proteus/error.hpp>

#include "base/process_key.hpp"
#include "base/task.hpp"
#include "mcp/capabilities.hpp"
#include "mcp/jsonrpc.hpp"
#include "mcp/reply.hpp"
#include "server/core/call.hpp"

namespace proteus::server {

// Who answers: the port between the protocol's edges and what is served. Functions are called on any worker's
// thread, several at a time.
class Service {
 public:
  virtual ~Service() = default;

  struct Face {
    mcp::ServerCapabilities capabilities;
    mcp::ServerIdentity identity;
    mcp::Caching caching;  // of this answer itself
  };
  // What this caller is told about the server, as a client of this era.
  virtual Face face(const Caller& caller, mcp::Era era) = 0;
  // How modern results are signed; what it refers to lives as long as the service.
  virtual mcp::ResultStyle modern_style() const = 0;

  // Answers a request of any method but those of sessions and streams, which the edges answer themselves. Where the
  // call carries headers, `Mcp-Param-*` are held against the arguments.
  virtual Task<mcp::Outcome> handle(Call& call) = 0;
  // The same where it can be done without waiting, which spares the coroutine; nothing where it cannot.
  virtual std::optional<mcp::Outcome> answer(Call& call) = 0;

  // The process that alone can go on with a request in this state; empty where any can.
  virtual ProcessKey holder_of(const Rounds& /*rounds*/) const { return {}; }

  // The part of a filter that can be honoured for this caller.
  virtual mcp::SubscriptionFilter accept(const mcp::SubscriptionFilter& wanted, const Caller& caller,
                                         Session* session) = 0;

  // A resource that somebody is not told of after all.
  struct Refused {
    std::string uri;
    Error why;
  };
  // Has whoever keeps what was accepted tell of it, for a caller that is among the listeners already; ends when they
  // have agreed, or refused. `session` is the caller's, null in the modern era; `request` is the one that asks for it.
  // What is referred to outlives the task.
  virtual Task<std::vector<Refused>> follow(const Caller& caller, Session* session, const mcp::Request& request,
                                            const mcp::SubscriptionFilter& accepted) = 0;
  // A session that another process had goes on here. `state` is what that process left for it; see SessionRecord.
  virtual void take_over(std::shared_ptr<Session> /*session*/, std::string_view /*state*/) {}
  // A session ends here because another process has it, or is to have it.
  virtual void leave(Session& /*session*/) {}
  // The client of a session has opened the stream that it listens on, or wants to hear of less.
  virtual void session_listens(Session& session) = 0;
  // The client of a session tells whoever answers something: that its roots have changed, or what no specification
  // names.
  virtual void client_notified(Session& session, const json::Message& notification) = 0;
};

}  // namespace proteus::server
