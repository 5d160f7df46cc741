#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "base/log/stranger_log.hpp"
#include "base/secrets/process_key.hpp"
#include "base/tasks/task.hpp"
#include "mcp/capabilities.hpp"
#include "mcp/jsonrpc.hpp"
#include "mcp/reply.hpp"
#include "server/core/call.hpp"

namespace proteus::server {

// Answers requests: the port between the protocol and what is served. Functions are called concurrently, on the threads
// of the workers.
class Service {
 public:
  virtual ~Service() = default;

  struct Face {
    mcp::ServerCapabilities capabilities;
    mcp::ServerIdentity identity;
    mcp::Caching caching;  // of the answer that carries this
  };
  // Returns what the server declares about itself to this caller in this era.
  virtual Face face(const Caller& caller, mcp::Era era) = 0;
  // Returns the style of modern results. What it refers to lives as long as the service.
  virtual mcp::ResultStyle modern_style() const = 0;

  // Answers a request of any method except those about sessions and streams, which the transports answer themselves. If
  // the call has headers, compares `Mcp-Param-*` with the arguments. The call must outlive the task.
  virtual Task<mcp::Outcome> handle(Call& call) = 0;
  // Like `handle`, without a coroutine. Returns nothing if the answer requires waiting; then `handle` must be called.
  virtual std::optional<mcp::Outcome> answer(Call& call) = 0;
  // Logs the exception that left this service while it answered the request, and returns the answer to the request.
  // Transports must let no exception pass: the stream of an answer would be destroyed while it is written. To be called
  // in a handler of the exception.
  Error failed(const mcp::Request& request);

  // Returns the only process that can continue a request in this state; empty if any process can.
  virtual ProcessKey holder_of(const Rounds& /*rounds*/) const { return {}; }

  // Returns the part of a filter that can be honoured for this caller. `session` is null in the modern era.
  virtual mcp::SubscriptionFilter accept(const mcp::SubscriptionFilter& wanted, const Caller& caller,
                                         Session* session) = 0;

  // An accepted resource of which the client will not be notified after all.
  struct Refused {
    std::string uri;
    Error why;
  };
  // Subscribes to what was accepted at its sources, for a caller that is registered as a listener already. Returns when
  // all sources have agreed or refused. `session` is null in the modern era; `request` is the request that subscribes,
  // and `authorization` its Authorization field. Everything given must outlive the task.
  virtual Task<std::vector<Refused>> follow(const Caller& caller, std::string_view authorization, Session* session,
                                            const mcp::Request& request, const mcp::SubscriptionFilter& accepted) = 0;
  // Called when this process takes over a session, before any request can use it. `state` is what the previous
  // process's service stored; see SessionRecord.
  virtual void restore(Session& /*session*/, std::string_view /*state*/) {}
  // Called when this process has taken over a session, and requests may use it already.
  virtual void take_over(std::shared_ptr<Session> /*session*/) {}
  // Called before a session ends here because another process has taken it over, or may do so.
  virtual void leave(Session& /*session*/) {}
  // Called when the client of a session has opened its standalone stream, unsubscribed from a resource or set its log
  // level.
  virtual void session_listens(Session& session) = 0;
  // Called for the notifications of a session's client that concern the service: its roots have changed, or the
  // notification is non-standard.
  virtual void client_notified(Session& session, const json::Message& notification) = 0;

 private:
  StrangerLog exceptions_{"this server"};
};

}  // namespace proteus::server
