#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/refusal_log.hpp"
#include "catalog/view/cursor.hpp"
#include "gateway/bridge/attendance.hpp"
#include "gateway/bridge/parked_calls.hpp"
#include "gateway/bridge/subscriptions.hpp"
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
  ProcessKey process = {};  // this one among several that serve as one; empty where it is alone
  client::Chance chance;
  RememberedListsLimits remembered;
};

// What is worth counting about a request that went to an upstream.
struct UpstreamRequest {
  const ServedUpstream& upstream;
  mcp::Method method;
  std::chrono::nanoseconds took;
  const Error* error;                  // of its own, or on the way; null for none
  bool cut_off = false;                // the circuit is open, and nothing was sent
  bool is_tool_error = false;          // it was answered, and the tool says that it failed
  const server::Call* call = nullptr;  // that it was sent for; null for a part of a list
};

// What it takes to ask upstreams for somebody. All of it outlives the request.
struct UpstreamMeans {
  // Of a request that was not let through: the circuit is counted, the limit noted as a refusal.
  void tell_refused(const UpstreamAttempts& attempts, UpstreamRequest request, const server::Caller& caller) const;

  BridgeDependencies reach;
  const std::function<void(const UpstreamRequest&)>& observer;
  RefusalLog& refusals;
  const Clock& clock;
  const client::Chance& chance;
};

// What is worth counting about a request of a client.
struct AnsweredRequest {
  mcp::Method method;
  mcp::Era era;
  std::chrono::nanoseconds took;
  const mcp::Outcome& outcome;
};

// The gateway's answers: from the catalog where it can, from upstreams where it must. Called on the threads of the
// workers.
class GatewayService final : public server::Service {
 public:
  // The workers, one for each thread, who hears them, and the log of refusals outlive it. The key is for cursors and
  // task ids.
  GatewayService(ServiceOptions options, const net::Workers& threads, std::vector<Worker*> workers,
                 Subscriptions& subscriptions, const Clock& clock, SealingKey key, RefusalLog& refusals);

  ParkedCalls& parked() { return parked_; }
  RememberedLists& remembered() { return remembered_; }

  // Told of each request to an upstream when it has ended.
  void set_observer(std::function<void(const UpstreamRequest&)> observer) { observer_ = std::move(observer); }
  // Told of each request of a client when it has been answered. Before anything is asked.
  void set_request_observer(std::function<void(const AnsweredRequest&)> observer) {
    request_observer_ = std::move(observer);
  }

  // Told when the answer to a call says that lists of an upstream that is listed live have changed for the caller.
  // Before anything is asked; called on any worker.
  using OnListsChanged = std::function<void(const std::string& principal, catalog::KindSet kinds)>;
  void set_on_lists_changed(OnListsChanged on_lists_changed) { on_lists_changed_ = std::move(on_lists_changed); }

  // Who asks people to sign in at upstreams that each uses as themselves. Before anything is asked; outlives it.
  void set_sign_ins(SignIns& sign_ins) { sign_ins_ = &sign_ins; }

  // The worker whose thread this is.
  Worker& here() const;

  // All tools that the caller of a request may use now. On the thread of its worker.
  Task<UsableTools> usable_tools(server::Call& call);

  Face face(const server::Caller& caller, mcp::Era era) override;
  mcp::ResultStyle modern_style() const override { return {mcp::Era::modern, options_.server_info, tail_}; }
  Task<mcp::Outcome> handle(server::Call& call) override;
  std::optional<mcp::Outcome> answer(server::Call& call) override;
  ProcessKey holder_of(const server::Rounds& rounds) const override;
  mcp::SubscriptionFilter accept(const mcp::SubscriptionFilter& wanted, const server::Caller& caller,
                                 server::Session* session) override;
  Task<std::vector<Refused>> follow(const server::Caller& caller, server::Session* session, const mcp::Request& request,
                                    const mcp::SubscriptionFilter& accepted) override;
  void take_over(std::shared_ptr<server::Session> session, std::string_view state) override;
  void leave(server::Session& session) override { Subscriptions::leave(session); }
  void session_listens(server::Session& session) override { Subscriptions::session_listens(session); }
  void client_notified(server::Session& session, const json::Message& notification) override {
    Subscriptions::client_notified(session, notification);
  }

 private:
  class Timing;
  struct Errand;

  // Has upstreams tell of what a session is subscribed to.
  Task<> follow_again(std::shared_ptr<server::Session> session);
  BridgeDependencies reach() { return {parked_, subscriptions_, sign_ins_}; }
  UpstreamMeans means() { return {reach(), observer_, refusals_, clock_, options_.chance}; }
  static mcp::ServerCapabilities offered_to(const catalog::View& view, const UpstreamTable& upstreams, mcp::Era era);

  // What upstreams show this caller alone, where they have said that it is another and it was not read yet.
  std::shared_ptr<OwnLists> lists_behind(server::Call& call) const;
  std::optional<mcp::Outcome> list_cached(server::Call& call, catalog::Kind kind);
  Task<mcp::Outcome> list(server::Call& call, catalog::Kind kind);
  Task<mcp::Outcome> forward(server::Call& call, const Timing& timing);
  Task<mcp::Outcome> forward(server::Call& call, const Timing& timing, ConcurrencyLimit::Pass&& place,
                             std::optional<Result<Route>>&& route, Clock::Monotonic began);
  // After what is too old to route it by was read again.
  Task<mcp::Outcome> forward_fresh(server::Call& call, Timing timing, ConcurrencyLimit::Pass place,
                                   std::vector<ServedUpstream> expired);
  // The same after what upstreams have announced to this caller was read.
  Task<mcp::Outcome> forward_caught_up(server::Call& call, Timing timing, ConcurrencyLimit::Pass place,
                                       std::shared_ptr<OwnLists> lists);
  static std::vector<ServedUpstream> expired_on_way(const std::optional<Result<Route>>& route, server::Call& call,
                                                    Worker& worker);
  Result<ConcurrencyLimit::Pass> take_place(server::Call& call, Worker& worker);
  // Nothing where lists must be read first.
  std::optional<Result<Route>> route_at_once(server::Call& call, Worker& worker);
  Task<Result<Route>> route_by_lists(server::Call& call);
  Task<mcp::Outcome> forward_by_lists(server::Call& call, Timing timing, ConcurrencyLimit::Pass place);
  Task<mcp::Outcome> dispatch(server::Call& call, const Timing& timing, Errand errand);
  // Nobody is found who could answer. One who has named a tool in vain is helped by whoever searches.
  Task<mcp::Outcome> refuse(server::Call& call, const Timing& timing, Error why);
  static Task<mcp::Outcome> name_nearest(server::Call& call, std::shared_ptr<LocalProvider> searching,
                                         std::shared_ptr<const catalog::View> view);
  static Task<mcp::Outcome> answer_locally(server::Call& call, Errand errand);
  // Whether it may be sent to the upstream now.
  Result<> admit(const Route& route, UpstreamAttempts& attempts, const server::Call& call);
  // Of a request that an upstream has refused, which each caller uses as themselves: asks its caller to sign in where
  // that is why, and sends it once more where they have. What it is answered; nothing where `forwarded` says.
  Task<std::optional<mcp::Outcome>> sign_in(server::Call& call, const Route& route, UpstreamAttempts& attempts,
                                            Forwarding& forwarding, Result<Forwarded>& forwarded);
  // `arguments` are those of a shaped tool's call, complete, and outlive it; empty for any other.
  Task<mcp::Outcome> send(server::Call& call, Timing timing, Errand errand, std::string_view arguments = {});
  // A call of a tool that an operator has shaped.
  Task<mcp::Outcome> send_shaped(server::Call& call, Timing timing, Errand errand);
  Task<mcp::Outcome> send_confirmed(server::Call& call, Timing timing, Errand errand, std::string_view arguments);
  Task<mcp::Outcome> resume(server::Call& call, ConcurrencyLimit::Pass place);
  // Of a call that comes back with what its caller said to a sign-in.
  Task<mcp::Outcome> forward_signed_in(server::Call& call, Timing timing, ConcurrencyLimit::Pass place);
  // Of the tool that stands for an upstream which its caller has not connected.
  bool is_connect_tool(const server::Call& call, const Route& route) const;
  Task<mcp::Outcome> connect(server::Call& call, Errand errand);
  mcp::CacheScope widest_scope(const server::Call& call, const providers::Upstream& upstream) const;
  // What the upstream offers has changed, and the very next list is to show it. What is given outlives this.
  Task<> refresh_for(const server::Caller& caller, const ServedUpstream& upstream);
  // What becomes of a request that has been to an upstream.
  // Requests about tasks: of 2025-11-25, and of the extension.
  Task<mcp::Outcome> about_tasks(server::Call& call, const Timing& timing);
  // The tasks of its session.
  Task<mcp::Outcome> list_tasks(server::Call& call);
  Task<> read_task(server::Call& call, std::string id, std::string& out);
  // Sends it to the upstream that runs the task.
  Task<mcp::Outcome> ask_about_task(server::Call& call, Timing timing);
  // The way to a task is that to its tool, for whoever may use that.
  Task<Result<Route>> route_to_task(server::Call& call, const TaskAtUpstream& task);
  mcp::Outcome task_outcome(server::Call& call, const ServedUpstream& upstream, const client::Answer& answer) const;
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

// The kind whose list a method asks for.
std::optional<catalog::Kind> listed_by(mcp::Method method);

}  // namespace proteus::gateway
