#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gateway/connections/upstream_session.hpp"
#include "server/core/listeners.hpp"
#include "server/core/service.hpp"

namespace proteus::gateway {

class SignIns;

class ParkedCalls;
class Worker;
struct Route;

// Decides over which connections callers listen to upstreams, and subscribes there. A modern upstream announces changes
// to everybody over the gateway's own connection; a legacy one announces them to each caller in the caller's own
// upstream session. Thread-safe.
class Subscriptions {
 public:
  // Everything passed must outlive this.
  Subscriptions(std::vector<Worker*> workers, server::Listeners& listeners);

  using Refused = std::vector<server::Service::Refused>;
  // Returns the route to a resource.
  using RouteOf = std::function<Task<Result<Route>>(const std::string& uri)>;
  // See server::Service::follow. Must be called on the thread of `here`.
  Task<Refused> follow(Worker& here, const server::Caller& caller, server::Session* session,
                       const mcp::SubscriptionFilter& accepted, const RouteOf& route_of);
  // Sets the callback for each upstream that is going to be asked for updates of a resource. Must be set before the
  // first request; called on the threads of the workers.
  void set_on_follow(std::function<void(const std::string& uri, const catalog::UpstreamName& upstream)> on_follow) {
    on_follow_ = std::move(on_follow);
  }
  // Re-evaluates what a session wants to listen to, after its stream was opened or its subscriptions changed.
  static void session_listens(server::Session& session);
  // Leaves the session's upstream sessions to another process, which continues them.
  static void leave(server::Session& session);
  // Forwards a notification of the session's client to its upstreams.
  static void client_notified(server::Session& session, const json::Message& notification);
  // Returns the worker that has a principal's sessions with legacy upstreams. All requests without a client session go
  // there, so that they share one upstream session.
  Worker& home_of(const std::string& principal) const;
  // Returns the client session's upstream session; a new one belongs to `here`.
  std::shared_ptr<UpstreamSession> upstream_session_of(Worker& here, server::Session& session,
                                                       const ServedUpstream& upstream);

 private:
  struct Asking;
  struct Followed;

  void streams_changed(const std::string& principal);
  void update(const std::string& principal);
  SessionObserver observer_of(const std::string& principal, Worker& worker);
  SessionObserver observer_of(server::Session& session);
  Task<> tell_everybody();
  Task<Refused> ask(Worker& here, const server::Caller& caller, server::Session* session, Followed followed);
  Task<> ask_aside(std::shared_ptr<Asking> asking, Followed followed);
  Task<> open_live_lines(Worker& here, const server::Caller& caller, const mcp::SubscriptionFilter& accepted);

  const std::vector<Worker*> workers_;
  server::Listeners& listeners_;
  std::function<void(const std::string& uri, const catalog::UpstreamName& upstream)> on_follow_;
};

// What a request needs, besides its worker, to reach an upstream of another era.
struct BridgeDependencies {
  ParkedCalls& parked;
  Subscriptions& subscriptions;
  SignIns* sign_ins = nullptr;  // null if nobody can be asked to sign in
};

}  // namespace proteus::gateway
