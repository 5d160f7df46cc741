// What the gateway declares to a caller, and what the caller may subscribe to.
#include <algorithm>

#include "base/log/log.hpp"
#include "gateway/callers/instructions.hpp"
#include "gateway/callers/principal.hpp"
#include "gateway/connections/upstream_sessions_of_client.hpp"
#include "gateway/connections/worker.hpp"
#include "gateway/request/route_finder.hpp"
#include "gateway/request/service.hpp"
#include "gateway/routing/scope_check.hpp"
#include "server/core/session.hpp"

namespace proteus::gateway {
namespace {

using catalog::Kind;

mcp::ServerCapabilities join(mcp::ServerCapabilities a, const mcp::ServerCapabilities& b) {
  a.prompts.offered = a.prompts.offered || b.prompts.offered;
  a.resources.offered = a.resources.offered || b.resources.offered;
  a.subscribe = a.subscribe || b.subscribe;
  a.completions = a.completions || b.completions;
  a.logging = a.logging || b.logging;
  a.tasks = a.tasks || b.tasks;
  a.task_extension = a.task_extension || b.task_extension;
  return a;
}

// Also checks scopes: a caller that may not read a resource gets no updates of it either. The references must outlive
// the task.
Task<Result<Route>> route_to_follow(Task<Result<Route>> routing, const server::Caller& caller, RefusalLog& refusals) {
  auto route = co_await std::move(routing);
  if (!route) co_return route;
  if (auto granted = check_scopes(*route, principal_of(caller), refusals); !granted)
    co_return std::unexpected(std::move(granted.error()));
  co_return route;
}

}  // namespace

// An upstream that has not answered yet may offer anything, and a legacy client receives the capabilities only once.
mcp::ServerCapabilities GatewayService::offered_to(const catalog::View& view, const UpstreamTable& upstreams,
                                                   mcp::Era era) {
  mcp::ServerCapabilities offered;
  offered.tools.offered = true;
  for (const ServedUpstream& served : upstreams.order) {
    if (!view.access().allows(served->name())) continue;
    const auto facts = served->facts();
    mcp::ServerCapabilities everything;
    everything.prompts.offered = everything.resources.offered = true;
    everything.subscribe = everything.completions = everything.logging = everything.tasks = true;
    offered = join(offered, facts ? facts->offers : everything);
    const auto side = era == mcp::Era::legacy ? served->legacy_side() : nullptr;
    if (side) offered = join(offered, side->facts->offers);
  }
  offered.prompts.offered = offered.prompts.offered || view.count(Kind::prompt) > 0;
  offered.resources.offered = offered.resources.offered || view.count(Kind::resource) > 0;
  for (auto* kind : {&offered.tools, &offered.prompts, &offered.resources})
    kind->list_changed = kind->offered;
  (era == mcp::Era::legacy ? offered.task_extension : offered.tasks) = false;
  return offered;
}

server::Service::Face GatewayService::face(const server::Caller& caller, mcp::Era era) {
  Worker& worker = here();
  const auto view = worker.view(caller);
  const auto context_view = worker.context_view(caller);
  return {offered_to(*view, worker.upstreams(), era),
          {options_.server_info, instructions_for(context_view.get(), *view, worker.upstreams())},
          {std::chrono::milliseconds(0), worker.cache_scope(*view)}};
}

mcp::SubscriptionFilter GatewayService::accept(const mcp::SubscriptionFilter& wanted, const server::Caller& caller,
                                               server::Session* session) {
  Worker& worker = here();
  const auto view = worker.view(caller, session);
  const mcp::ServerCapabilities offered =
      offered_to(*view, worker.upstreams(), session != nullptr ? mcp::Era::legacy : mcp::Era::modern);
  mcp::SubscriptionFilter accepted;
  accepted.tools = wanted.tools && offered.tools.offered;
  accepted.prompts = wanted.prompts && offered.prompts.offered;
  accepted.resources = wanted.resources && offered.resources.offered;
  if (!offered.subscribe) return accepted;
  // Whether `follow` must find out which upstream has a resource.
  const bool live = std::ranges::any_of(worker.upstreams().order, [&](const ServedUpstream& served) {
    if (!served->is_direct() || !view->access().allows(served->name())) return false;
    const auto facts = served->facts();
    return !facts || facts->offers.subscribe;
  });
  catalog::View::TemplateBudget budget;
  for (const auto& uri : wanted.uris) {
    if (uri.size() > catalog::kLongestUri) continue;
    if (view->lens() != nullptr && !view->lens()->admits(Kind::resource, {uri, uri})) continue;
    if (live || view->find(Kind::resource, uri) || view->match_template(uri, budget)) accepted.uris.push_back(uri);
  }
  return accepted;
}

Task<std::vector<server::Service::Refused>> GatewayService::follow(const server::Caller& caller,
                                                                   std::string_view authorization,
                                                                   server::Session* session,
                                                                   const mcp::Request& request,
                                                                   const mcp::SubscriptionFilter& accepted) {
  Worker& worker = here();
  CallerLists lists(remembered_, {request, caller, session, authorization});
  RouteFinder finder(lists, worker);
  const auto never = std::make_shared<server::Cancellation>(worker.io().get_executor());
  const Subscriptions::RouteOf route_of = [&](const std::string& uri) {
    return route_to_follow(finder.run({Kind::resource, uri}, means(), *never), caller, refusals_);
  };
  co_return co_await subscriptions_.follow(worker, caller, session, accepted, route_of);
}

void GatewayService::restore(server::Session& session, std::string_view state) {
  UpstreamSessionsOfClient::of(session)->restore(state);
}

void GatewayService::take_over(std::shared_ptr<server::Session> session) {
  if (!session->subscriptions().empty()) here().run("following resources again", follow_again(std::move(session)));
}

Task<> GatewayService::follow_again(std::shared_ptr<server::Session> session) {
  // The request with which a client would subscribe.
  const std::string text = R"({"jsonrpc":"2.0","id":0,"method":"resources/subscribe","params":{"uri":""}})";
  auto message = json::scan(text);
  const auto facts = session->facts();
  const auto request = mcp::legacy::decode(message.value(), facts);
  if (!request) co_return;
  const auto caller = session->caller();
  const auto accepted = accept({.uris = session->subscriptions()}, *caller, session.get());
  for (const auto& [uri, why] : co_await follow(*caller, {}, session.get(), *request, accepted))
    log::info("a session that goes on here is not told of {}: {}", log::printable(uri, 200), why.message());
  // Nobody received updates while the upstream was not listened to, so every resource may have changed.
  for (const auto& uri : accepted.uris)
    session->resource_updated(uri);
}

}  // namespace proteus::gateway
