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

// Who hears what from upstreams, and how it is brought about: of a modern upstream everybody hears over the connection
// that the gateway has for itself; of a legacy one each caller over a line of its own. Thread-safe.
class Subscriptions {
 public:
  // Everything given outlives it.
  Subscriptions(std::vector<Worker*> workers, server::Listeners& listeners);

  using Refused = std::vector<server::Service::Refused>;
  // Whose resource a URI is.
  using RouteOf = std::function<Task<Result<Route>>(const std::string& uri)>;
  // See server::Service::follow. On the thread of `here`.
  Task<Refused> follow(Worker& here, const server::Caller& caller, server::Session* session,
                       const mcp::SubscriptionFilter& accepted, const RouteOf& route_of);
  // Told which upstream is to tell of updates of a resource, before it is waited for. Before anything is asked; called
  // on the threads of the workers.
  void set_on_follow(std::function<void(const std::string& uri, const catalog::UpstreamName& upstream)> on_follow) {
    on_follow_ = std::move(on_follow);
  }
  // A session's stream was opened, or it wants other things than before.
  static void session_listens(server::Session& session);
  // Another process goes on with a session, and with its sessions at upstreams.
  static void leave(server::Session& session);
  // The client of a session tells its upstreams something.
  static void client_notified(server::Session& session, const json::Message& notification);
  // Where a principal's lines to legacy upstreams are, so that all of its requests meet in one session.
  Worker& home_of(const std::string& principal) const;
  // The line that a client's session has to an upstream; a new one belongs to `here`.
  std::shared_ptr<UpstreamSession> line_of(Worker& here, server::Session& session, const ServedUpstream& upstream);

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

// What a request needs besides its worker to reach an upstream of another era.
struct BridgeDependencies {
  ParkedCalls& parked;
  Subscriptions& subscriptions;
  SignIns* sign_ins = nullptr;  // null where nobody can be asked
};

}  // namespace proteus::gateway
