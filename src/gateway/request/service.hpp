#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/log/refusal_log.hpp"
#include "catalog/view/cursor.hpp"
#include "gateway/bridge/parked_calls.hpp"
#include "gateway/bridge/subscriptions.hpp"
#include "gateway/bridge/wait_for_call.hpp"
#include "gateway/confirmation/confirmation.hpp"
#include "gateway/connections/worker.hpp"
#include "gateway/routing/remembered_lists.hpp"
#include "gateway/routing/route.hpp"
#include "gateway/routing/task_ids.hpp"
#include "gateway/routing/translation.hpp"
#include "gateway/upstreams/concurrency_limit.hpp"
#include "net/io/workers.hpp"
#include "server/core/service.hpp"

namespace proteus::gateway {

class Forwarding;
class UpstreamAttempts;
class UsableTools;

struct ServiceOptions {
  std::string server_info;  // an Implementation object
  std::size_t page_size = 1000;
  MetaLimits meta;
  ParkingLimits parking;
  ProcessKey process = {};  // this process among several that serve as one; empty if there is only one
  client::Chance chance;
  RememberedListsLimits remembered;
};

// A request to an upstream, as observers see it.
struct UpstreamRequest {
  const ServedUpstream& upstream;
  mcp::Method method;
  std::chrono::nanoseconds took;
  const Error* error;                  // of the upstream, or on the way; null for none
  bool cut_off = false;                // the circuit was open, and nothing was sent
  bool is_tool_error = false;          // the tool reports in its result that it failed
  const server::Call* call = nullptr;  // the call it was sent for; null for a part of a list
};

// What is needed to send requests to upstreams. All of it outlives the request.
struct UpstreamMeans {
  // Reports a request that was not admitted: to the observer if the circuit was open, otherwise to `refusals`.
  void tell_refused(const UpstreamAttempts& attempts, UpstreamRequest request, const server::Caller& caller) const;

  BridgeDependencies reach;
  const std::function<void(const UpstreamRequest&)>& observer;
  RefusalLog& refusals;
  const Clock& clock;
  const client::Chance& chance;
};

// An answered request of a client, as observers see it.
struct AnsweredRequest {
  mcp::Method method;
  mcp::Era era;
  std::chrono::nanoseconds took;
  const mcp::Outcome& outcome;
};

// Answers requests: from the catalog if possible, otherwise from upstreams. Called on the workers' threads.
class GatewayService final : public server::Service {
 public:
  // The references and the workers, one for each thread, must outlive it. The key seals cursors and task ids.
  GatewayService(ServiceOptions options, const net::Workers& threads, std::vector<Worker*> workers,
                 Subscriptions& subscriptions, const Clock& clock, SealingKey key, RefusalLog& refusals);

  ParkedCalls& parked() { return parked_; }
  RememberedLists& remembered() { return remembered_; }

  // Sets the callback for each request to an upstream that has ended.
  void set_observer(std::function<void(const UpstreamRequest&)> observer) { observer_ = std::move(observer); }
  // Sets the callback for each request of a client that was answered. Must be set before the first request.
  void set_request_observer(std::function<void(const AnsweredRequest&)> observer) {
    request_observer_ = std::move(observer);
  }

  // Sets the callback for answers which say that lists of a live upstream have changed for the caller. Must be set
  // before the first request; called on any worker.
  using OnListsChanged = std::function<void(const std::string& principal, catalog::KindSet kinds)>;
  void set_on_lists_changed(OnListsChanged on_lists_changed) { on_lists_changed_ = std::move(on_lists_changed); }

  // Sets what asks callers to sign in at upstreams that they use with their own credentials. Must be set before the
  // first request, and must outlive this.
  void set_sign_ins(SignIns& sign_ins) { sign_ins_ = &sign_ins; }

  // Returns the worker of the current thread.
  Worker& here() const;

  // Returns all tools that the caller may use now. Must be called on the thread of its worker.
  Task<UsableTools> usable_tools(server::Call& call);

  Face face(const server::Caller& caller, mcp::Era era) override;
  mcp::ResultStyle modern_style() const override { return {mcp::Era::modern, options_.server_info, tail_}; }
  Task<mcp::Outcome> handle(server::Call& call) override;
  std::optional<mcp::Outcome> answer(server::Call& call) override;
  ProcessKey holder_of(const server::Rounds& rounds) const override;
  mcp::SubscriptionFilter accept(const mcp::SubscriptionFilter& wanted, const server::Caller& caller,
                                 server::Session* session) override;
  Task<std::vector<Refused>> follow(const server::Caller& caller, std::string_view authorization,
                                    server::Session* session, const mcp::Request& request,
                                    const mcp::SubscriptionFilter& accepted) override;
  void restore(server::Session& session, std::string_view state) override;
  void take_over(std::shared_ptr<server::Session> session) override;
  void leave(server::Session& session) override { Subscriptions::leave(session); }
  void session_listens(server::Session& session) override { Subscriptions::session_listens(session); }
  void client_notified(server::Session& session, const json::Message& notification) override {
    Subscriptions::client_notified(session, notification);
  }

 private:
  class Timing;
  struct Errand;

  // Subscribes a session that was taken over to its resources again.
  Task<> follow_again(std::shared_ptr<server::Session> session);
  BridgeDependencies reach() { return {parked_, subscriptions_, sign_ins_}; }
  UpstreamMeans means() { return {reach(), observer_, refusals_, clock_, options_.chance}; }
  static mcp::ServerCapabilities offered_to(const catalog::View& view, const UpstreamTable& upstreams, mcp::Era era);

  // Returns the caller's own lists if an upstream has announced a change of them that was not read yet; otherwise null.
  std::shared_ptr<OwnLists> lists_behind(server::Call& call) const;
  std::optional<mcp::Outcome> list_cached(server::Call& call, catalog::Kind kind);
  Task<mcp::Outcome> list(server::Call& call, catalog::Kind kind);
  Task<mcp::Outcome> forward(server::Call& call, const Timing& timing);
  Task<mcp::Outcome> forward(server::Call& call, const Timing& timing, ConcurrencyLimit::Pass&& place,
                             std::optional<Result<Route>>&& route, Clock::Monotonic began);
  // Like `forward`, after the expired lists that the route depends on were refreshed.
  Task<mcp::Outcome> forward_fresh(server::Call& call, Timing timing, ConcurrencyLimit::Pass place,
                                   std::vector<ServedUpstream> expired);
  // Like `forward`, after what upstreams have announced to this caller was read.
  Task<mcp::Outcome> forward_caught_up(server::Call& call, Timing timing, ConcurrencyLimit::Pass place,
                                       std::shared_ptr<OwnLists> lists);
  static std::vector<ServedUpstream> expired_on_way(const std::optional<Result<Route>>& route, server::Call& call,
                                                    Worker& worker);
  Result<ConcurrencyLimit::Pass> take_place(server::Call& call, Worker& worker);
  // Returns nothing if lists must be read first.
  std::optional<Result<Route>> route_at_once(server::Call& call, Worker& worker);
  Task<Result<Route>> route_by_lists(server::Call& call);
  Task<mcp::Outcome> forward_by_lists(server::Call& call, Timing timing, ConcurrencyLimit::Pass place);
  Task<mcp::Outcome> dispatch(server::Call& call, const Timing& timing, Errand errand);
  // Refuses a request without a route. For callers who search, the search provider names similar tools.
  Task<mcp::Outcome> refuse(server::Call& call, const Timing& timing, Error why);
  static Task<mcp::Outcome> name_nearest(server::Call& call, std::shared_ptr<LocalProvider> searching,
                                         std::shared_ptr<const catalog::View> view);
  static Task<mcp::Outcome> answer_locally(server::Call& call, Errand errand);
  // Checks whether the request may be sent to the upstream now, and begins the attempts.
  Result<> admit(const Route& route, UpstreamAttempts& attempts, const server::Call& call);
  // Handles a refusal by an upstream that callers use with their own credentials. Asks the caller to sign in if that
  // may help, and sends the request once more after a sign-in. Returns the answer, or nothing if `forwarded` has the
  // outcome and is still to be reported.
  Task<std::optional<mcp::Outcome>> sign_in(server::Call& call, Errand& errand, UpstreamAttempts& attempts,
                                            Forwarding& forwarding, Result<Forwarded>& forwarded);
  // `arguments` are the complete arguments of a shaped tool's call and outlive the task; empty for any other.
  Task<mcp::Outcome> send(server::Call& call, Timing timing, Errand errand, std::string_view arguments = {});
  // Sends a call of a tool that an operator has shaped.
  Task<mcp::Outcome> send_shaped(server::Call& call, Timing timing, Errand errand);
  Task<mcp::Outcome> send_confirmed(server::Call& call, Timing timing, Errand errand, std::string_view arguments);
  Task<mcp::Outcome> resume(server::Call& call, ConcurrencyLimit::Pass place);
  // Continues a call that returns with the answer to a sign-in question.
  Task<mcp::Outcome> forward_signed_in(server::Call& call, Timing timing, ConcurrencyLimit::Pass place);
  // Whether the call is for the tool that represents an upstream which the caller has not connected.
  bool is_connect_tool(const server::Call& call, const Route& route) const;
  Task<mcp::Outcome> connect(server::Call& call, Errand errand);
  mcp::CacheScope widest_scope(const server::Call& call, const providers::Upstream& upstream) const;
  // Makes sure that the next list shows what has changed at the upstream. The arguments must outlive the task.
  Task<> refresh_for(const server::Caller& caller, const ServedUpstream& upstream);
  // Answers requests about tasks, of 2025-11-25 and of the extension.
  Task<mcp::Outcome> about_tasks(server::Call& call, const Timing& timing);
  // Lists the tasks of the call's session.
  Task<mcp::Outcome> list_tasks(server::Call& call);
  Task<> read_task(server::Call& call, std::string id, std::string& out);
  // Sends a request about a task to the upstream that runs the task.
  Task<mcp::Outcome> ask_about_task(server::Call& call, Timing timing);
  // Finds the route to a task: that of its tool, if the caller may still use it.
  Task<Result<Route>> route_to_task(server::Call& call, const TaskAtUpstream& task);
  mcp::Outcome task_outcome(server::Call& call, const ServedUpstream& upstream, const client::Answer& answer) const;
  // Reports the outcome of a request to an upstream to the observer.
  void tell_observer(server::Call& call, const ServedUpstream& upstream, std::chrono::nanoseconds took,
                     const Result<Forwarded>& forwarded) const;
  // Reports the outcome of a request to an upstream, and turns it into the outcome for the client.
  mcp::Outcome conclude(server::Call& call, const ServedUpstream& upstream, std::chrono::nanoseconds took,
                        Result<Forwarded> forwarded) const;

  const ServiceOptions options_;
  const std::string tail_;
  const net::Workers& threads_;
  const std::vector<Worker*> workers_;
  Subscriptions& subscriptions_;
  const Clock& clock_;
  RefusalLog& refusals_;
  const catalog::Cursors cursors_;
  const TaskIds tasks_;
  ParkedCalls parked_;
  Confirmations confirmations_;
  RememberedLists remembered_;
  std::function<void(const UpstreamRequest&)> observer_;
  std::function<void(const AnsweredRequest&)> request_observer_;
  OnListsChanged on_lists_changed_;
  SignIns* sign_ins_ = nullptr;
};

// Returns the kind of list that a method reads; nothing for other methods.
std::optional<catalog::Kind> listed_by(mcp::Method method);

}  // namespace proteus::gateway
