#pragma once

#include <functional>

#include "client/connection/pending_request.hpp"
#include "gateway/bridge/client_asks.hpp"
#include "gateway/bridge/parked_calls.hpp"
#include "gateway/bridge/running_call.hpp"
#include "gateway/bridge/wait_for_call.hpp"
#include "gateway/request/service.hpp"
#include "gateway/routing/route.hpp"
#include "server/core/call.hpp"
#include "server/core/session_stream.hpp"

namespace proteus::gateway {

// One request on its way to an upstream and back. Lives on the caller's thread while the request runs.
class Forwarding {
 public:
  // All arguments must outlive it. `arguments` are the complete arguments of a shaped tool's call; empty for any other.
  Forwarding(server::Call& call, Worker& worker, BridgeDependencies reach, const Route& route,
             std::string_view arguments = {});

  // Sets the upstream's id of the task that the request is about. The id must outlive this.
  void set_task(std::string_view task) { task_ = task; }
  // Sends the request and returns its outcome. Parks the call if a legacy upstream asks a modern client something. May
  // be called again after a failure.
  Task<Result<Forwarded>> run();
  // Reads a page of the upstream's list. What `params` views must outlive the task.
  Task<Result<Forwarded>> list(client::Params params);
  // The caller's own credentials for the upstream; null if none are used.
  const std::shared_ptr<GrantAuthorizer>& authorizer() const { return authorizer_; }

 private:
  // Where a request is sent from: a connection, and the thread that owns it.
  struct Lane {
    Executor thread;
    CallerConnection connection = {};
    bool here = true;
    std::shared_ptr<UpstreamSession> upstream_session = {};  // owns the connection, if it is a caller's own
    Worker* home = nullptr;                                  // if set, looks up the caller's session on its thread
  };

  Task<Result<Forwarded>> run(client::Params params);
  Task<Result<Forwarded>> run_known();
  // Finds out first which era the upstream speaks; `list` has the params of a list request.
  Task<Result<Forwarded>> run_unknown(std::optional<client::Params> list = {});
  LogWish logs_wanted() const;
  // Sends the request at once if that needs no waiting. Otherwise returns null and leaves the options unchanged.
  std::shared_ptr<client::PendingRequest> post(const Lane& lane, const client::Params& params,
                                               client::RequestOptions& options) const;
  // Awaits the answer here. If polling cannot complete the request, finishes it in a separate coroutine.
  Task<Result<Forwarded>> run_pending(Lane lane, std::shared_ptr<client::PendingRequest> pending,
                                      client::Params params);
  // Runs `request` on the thread of its connection. If the caller cancels, cancels it.
  Task<Result<Forwarded>> run_there(Executor thread, Task<Result<client::Answer>> request);

  // Sends a modern client's request to a legacy upstream, which may ask questions while it runs.
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
  // Returns the worker that has the caller's session with a legacy upstream.
  Worker& home();
  // Whether the call needs a session that no other call uses: its caller is anonymous, and the upstream keeps sessions.
  bool needs_own_session() const;
  Task<Result<client::Answer>> request(Lane lane, client::Params params, client::RequestOptions options);
  client::RequestOptions options(const Lane& lane);
  std::shared_ptr<const client::Handlers> session_handlers();
  // Withdraws the questions of this attempt; another attempt asks again.
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
  const client::PendingRequest* pending_ = nullptr;    // while it is polled
  std::shared_ptr<UpstreamSession> upstream_session_;  // of a bridged call
  std::shared_ptr<RunningCall> running_;               // once the upstream asks, or the request runs apart
  std::shared_ptr<const client::Handlers> running_handlers_;
};

}  // namespace proteus::gateway
