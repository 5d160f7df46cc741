#pragma once

#include <functional>

#include "client/connection/pending_request.hpp"
#include "gateway/bridge/attendance.hpp"
#include "gateway/bridge/client_asks.hpp"
#include "gateway/bridge/parked_calls.hpp"
#include "gateway/bridge/running_call.hpp"
#include "gateway/request/service.hpp"
#include "gateway/routing/route.hpp"
#include "server/core/call.hpp"
#include "server/core/session_stream.hpp"

namespace proteus::gateway {

// One request on its way to an upstream and back. Lives on the caller's thread, for as long as the request runs.
class Forwarding {
 public:
  // All of these outlive it. `arguments` are those of a shaped tool's call, complete; empty for any other.
  Forwarding(server::Call& call, Worker& worker, BridgeDependencies reach, const Route& route,
             std::string_view arguments = {});

  // The upstream's id of the task that the request is about; it outlives this.
  void set_task(std::string_view task) { task_ = task; }
  // With the request's own params. Where the upstream is of the era before the client's, and the client must be asked
  // for something first, the call is parked.
  Task<Result<Forwarded>> run();
  // A page of what the upstream lists, with other params, which outlive it.
  Task<Result<Forwarded>> list(client::Params params);
  // The caller's own credentials at the upstream; null where it has none of its own.
  const std::shared_ptr<GrantAuthorizer>& authorizer() const { return authorizer_; }

 private:
  // Where it is sent from: the thread that a connection belongs to.
  struct Lane {
    Executor thread;
    CallerConnection connection = {};
    bool here = true;
    std::shared_ptr<UpstreamSession> line = {};  // whose connection it is then
    Worker* home = nullptr;                      // where the caller's line is found, on its thread
  };

  Task<Result<Forwarded>> run(client::Params params);
  Task<Result<Forwarded>> run_known();
  Task<Result<Forwarded>> run_unknown();
  Task<Result<Forwarded>> list_unknown(client::Params params);
  LogWish logs_wanted() const;
  // Sends it at once where that needs no waiting. Null where it does, and the options are as they were.
  std::shared_ptr<client::PendingRequest> post(const Lane& lane, const client::Params& params,
                                               client::RequestOptions& options) const;
  // Waits for its answer here; where there is more to it, it runs on its own thread, or aside.
  Task<Result<Forwarded>> run_pending(Lane lane, std::shared_ptr<client::PendingRequest> pending,
                                      client::Params params);
  // Runs it on the thread of its connection; cancelled with the caller's.
  Task<Result<Forwarded>> run_there(Executor thread, Task<Result<client::Answer>> request);

  // Of a modern client at a legacy upstream, which may ask while it runs.
  Task<Result<Forwarded>> run_bridged();
  Task<Result<Forwarded>> go_on_aside(std::shared_ptr<client::PendingRequest> pending, client::Params params);
  Task<Result<Forwarded>> run_aside(Worker& home, Task<Result<client::Answer>> request);
  client::RequestOptions bridged_options(const Lane& lane);
  void start_running(Worker& home);
  std::shared_ptr<const client::Handlers> running_handlers();

  std::vector<client::Header> mirrored() const;
  std::vector<client::Header> mirrored_of_shaped() const;
  Lane choose_lane();
  Lane session_lane();
  // Where the caller's line to a legacy upstream is.
  Worker& home();
  // Whether nothing tells the caller from others, and the upstream may keep something for whoever calls.
  bool needs_own_session() const;
  Task<Result<client::Answer>> request(Lane lane, client::Params params, client::RequestOptions options);
  client::RequestOptions options(const Lane& lane);
  std::shared_ptr<const client::Handlers> session_handlers();
  // What this attempt has asked the client ends with it; another one asks anew.
  Task<> stop_asking();

  server::Call& call_;
  Worker& worker_;
  const BridgeDependencies bridge_;
  const Route& route_;
  const std::string_view arguments_;
  const std::shared_ptr<GrantAuthorizer> authorizer_;
  std::shared_ptr<const client::ServerFacts> facts_;
  std::optional<ForwardedParams> params_;
  std::shared_ptr<ClientAsks> asks_;
  std::optional<server::SessionStream::Way> way_;
  std::string_view task_;
  const client::PendingRequest* pending_ = nullptr;  // while it is polled
  std::shared_ptr<UpstreamSession> line_;            // of a bridged call
  std::shared_ptr<RunningCall> running_;             // once there is more to it than an answer
  std::shared_ptr<const client::Handlers> running_handlers_;
};

}  // namespace proteus::gateway
