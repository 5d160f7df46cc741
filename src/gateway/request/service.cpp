#include "gateway/request/service.hpp"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "base/log.hpp"
#include "client/connection/calls.hpp"
#include "gateway/bridge/questions.hpp"
#include "gateway/callers/instructions.hpp"
#include "gateway/callers/principal.hpp"
#include "gateway/grants/sign_ins.hpp"
#include "gateway/request/errand.hpp"
#include "gateway/request/forwarding.hpp"
#include "gateway/request/live_lists.hpp"
#include "gateway/request/routing.hpp"
#include "gateway/routing/scope_check.hpp"
#include "gateway/upstreams/freshening.hpp"
#include "gateway/upstreams/local_provider.hpp"
#include "gateway/upstreams/upstream_attempts.hpp"
#include "gateway/upstreams/upstream_errors.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"
#include "mcp/jsonrpc.hpp"
#include "server/core/asking.hpp"

namespace proteus::gateway {
namespace {

using catalog::Kind;

// How long a list waits for what an upstream has just announced to its caller.
constexpr std::chrono::seconds kCatchUp{2};

Error drifted(const providers::Upstream& upstream, std::string_view name, std::string_view why) {
  return errors::conflict(
      fmt::format("{} of upstream {} is not called: it is pinned, and the upstream has changed it so that what it was "
                  "ratified as would be misread ({}); an operator has to decide about the change",
                  log::printable(name, 200), upstream.settings().name, why));
}

// A legacy upstream's error that sends the user to URLs first is a need for input in the modern era; the retry runs the
// request anew, as it would there.
std::optional<mcp::InputRequired> visits_required(server::Call& call, const Error& error) {
  if (call.session() != nullptr || error.rpc_code() != mcp::code::kLegacyUrlElicitationRequired) return std::nullopt;
  if (!call.request().method->may_ask || !call.client().elicitation_url) return std::nullopt;
  auto required = url_questions(error.data());
  if (required) required->state = kVisitedState;
  call.rounds().answers.clear();
  return required;
}

bool wants_refresh(const Result<Forwarded>& forwarded) {
  const auto* const answer = forwarded ? std::get_if<client::Answer>(&*forwarded) : nullptr;
  return answer != nullptr && wants_refresh(*answer);
}

mcp::ServerCapabilities join(mcp::ServerCapabilities a, const mcp::ServerCapabilities& b) {
  a.prompts.offered = a.prompts.offered || b.prompts.offered;
  a.resources.offered = a.resources.offered || b.resources.offered;
  a.subscribe = a.subscribe || b.subscribe;
  a.completions = a.completions || b.completions;
  a.logging = a.logging || b.logging;
  return a;
}

// Holds the caller's scopes against what is asked for, and the mirrored parameters of a tool against its headers.
Result<Route> checked(const server::Call& call, Result<Route> route, RefusalLog& refusals) {
  if (route && principal_of(call.caller()).scopes() != nullptr) [[unlikely]] {
    auto granted = check_scopes(*route, principal_of(call.caller()), refusals);
    if (!granted) return std::unexpected(std::move(granted.error()));
  }
  if (!route || call.headers() == nullptr || !route->found || route->found.definition->mirrored == nullptr) {
    return route;
  }
  const std::string_view raw = call.request().param("arguments");
  const auto arguments = json::parse(raw.empty() ? "{}" : raw);
  if (!arguments) {
    return std::unexpected(mcp::errors::invalid_params(
        fmt::format("params.arguments cannot be compared with the headers: {}", arguments.error().message())));
  }
  const auto held = mcp::check_mirrored(*route->found.definition->mirrored, *arguments, *call.headers());
  if (!held) return std::unexpected(held.error());
  return route;
}

// Who may not read a resource is not told of it either. What is given outlives it.
Task<Result<Route>> route_to_follow(Task<Result<Route>> routing, const server::Caller& caller, RefusalLog& refusals) {
  auto route = co_await std::move(routing);
  if (!route) co_return route;
  if (auto granted = check_scopes(*route, principal_of(caller), refusals); !granted)
    co_return std::unexpected(std::move(granted.error()));
  co_return route;
}

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

std::string_view word_for(const mcp::Outcome& outcome) {
  if (!outcome) return to_string(outcome.error().kind());
  const auto* reply = std::get_if<mcp::Reply>(&*outcome);
  if (reply == nullptr) return "input_required";
  return reply->is_tool_error ? "tool_error" : "ok";
}

void log_answer(server::Call& call, std::chrono::nanoseconds took, const mcp::Outcome& outcome) {
  const mcp::Request& request = call.request();
  log::event(log::Level::debug, "answered",
             {{"request", call.log_id()},
              {"method", std::string(request.method->name)},
              {"name", log::printable(request.name)},
              {"era", std::string(mcp::to_string(request.era()))},
              {"principal", principal_of(call.caller()).name()},
              {"context", call.caller().context},
              {"outcome", std::string(word_for(outcome))},
              {"ms", fmt::format("{:.3f}", std::chrono::duration<double, std::milli>(took).count())}});
}

}  // namespace

std::optional<Kind> listed_by(mcp::Method method) {
  for (const Kind kind : catalog::kKinds) {
    if (catalog::info(kind).list_method == method) return kind;
  }
  return std::nullopt;
}

GatewayService::GatewayService(ServiceOptions options, std::vector<Worker*> workers, Subscriptions& subscriptions,
                               const Clock& clock, SealingKey cursor_key, RefusalLog& refusals)
    : number_(next_number()),
      options_(std::move(options)),
      tail_(mcp::result_tail(options_.server_info)),
      workers_(std::move(workers)),
      subscriptions_(subscriptions),
      clock_(clock),
      refusals_(refusals),
      cursors_(cursor_key),
      parked_(options_.parking, clock),
      confirmations_(clock),
      remembered_(clock, options_.remembered) {}

Worker& GatewayService::here() const {
  // Looked for once by each thread; no two services have the same number.
  static thread_local std::pair<std::uint64_t, Worker*> found{0, nullptr};
  if (found.first == number_) return *found.second;
  for (Worker* worker : workers_) {
    if (!worker->io().get_executor().running_in_this_thread()) continue;
    found = {number_, worker};
    return *worker;
  }
  throw std::logic_error("the gateway is asked on a thread that is none of its workers");
}

// An upstream that has not answered yet may come with anything, and a legacy client is told only once.
mcp::ServerCapabilities GatewayService::offered_to(const catalog::View& view, const UpstreamTable& upstreams,
                                                   mcp::Era era) {
  mcp::ServerCapabilities offered;
  offered.tools.offered = true;
  for (const ServedUpstream& served : upstreams.order) {
    if (!view.access().allows(served->name())) continue;
    const auto facts = served->facts();
    mcp::ServerCapabilities everything;
    everything.prompts.offered = everything.resources.offered = true;
    everything.subscribe = everything.completions = everything.logging = true;
    offered = join(offered, facts ? facts->offers : everything);
    const auto side = era == mcp::Era::legacy ? served->legacy_side() : nullptr;
    if (side) offered = join(offered, side->facts->offers);
  }
  offered.prompts.offered = offered.prompts.offered || view.count(Kind::prompt) > 0;
  offered.resources.offered = offered.resources.offered || view.count(Kind::resource) > 0;
  for (auto* kind : {&offered.tools, &offered.prompts, &offered.resources})
    kind->list_changed = kind->offered;
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
  for (const auto& uri : wanted.uris) {
    if (uri.size() > catalog::kLongestUri) continue;
    if (view->lens() != nullptr && !view->lens()->admits(Kind::resource, {uri, uri})) continue;
    // Who of them has it is found out when it is followed.
    const bool live = std::ranges::any_of(worker.upstreams().order, [&](const ServedUpstream& served) {
      if (!served->is_direct() || !view->access().allows(served->name())) return false;
      const auto facts = served->facts();
      return !facts || facts->offers.subscribe;
    });
    if (live || view->find(Kind::resource, uri) || view->match_template(uri)) accepted.uris.push_back(uri);
  }
  return accepted;
}

Task<std::vector<server::Service::Refused>> GatewayService::follow(const server::Caller& caller,
                                                                   server::Session* session,
                                                                   const mcp::Request& request,
                                                                   const mcp::SubscriptionFilter& accepted) {
  Worker& worker = here();
  CallerLists lists(remembered_, {request, caller, session});
  Routing routing(lists, worker);
  const auto never = std::make_shared<server::Cancellation>(worker.io().get_executor());
  const Routing::Means means{reach(), observer_, clock_, options_.chance, *never};
  const Subscriptions::RouteOf route_of = [&](const std::string& uri) {
    return route_to_follow(routing.run({Kind::resource, uri}, means), caller, refusals_);
  };
  co_return co_await subscriptions_.follow(worker, caller, session, accepted, route_of);
}

void GatewayService::Timing::end(const mcp::Outcome& outcome, Clock::Monotonic now) const {
  const mcp::Request& request = call_.request();
  const auto took = now - began_;
  if (service_.request_observer_) {
    service_.request_observer_({request.method->method, request.era(), took, outcome});
  }
  if (log::enabled(log::Level::debug)) [[unlikely]]
    log_answer(call_, took, outcome);
}

std::optional<mcp::Outcome> GatewayService::answer(server::Call& call) {
  const auto kind = listed_by(call.request().method->method);
  if (!kind) return std::nullopt;
  const Timing timing(*this, call);
  if (lists_behind(call)) return std::nullopt;
  std::optional<mcp::Outcome> listed;
  if (auto checked = check_meta(call.request(), options_.meta); !checked) {
    listed.emplace(std::unexpected(checked.error()));
  } else {
    listed = list_cached(call, *kind);
  }
  if (listed) timing.end(*listed);
  return listed;
}

Task<mcp::Outcome> GatewayService::handle(server::Call& call) {
  const Timing timing(*this, call);
  // Those of a session end with it.
  if (call.session() == nullptr && !call.is_linked()) here().running().push_back(call);
  if (auto checked = check_meta(call.request(), options_.meta); !checked)
    return timing.refuse(std::move(checked.error()));
  if (const auto kind = listed_by(call.request().method->method)) return timing.around(list(call, *kind));
  return forward(call, timing);
}

std::shared_ptr<OwnLists> GatewayService::lists_behind(server::Call& call) const {
  auto lists = here().own_lists(call.caller(), call.session());
  return lists && lists->is_behind() ? lists : nullptr;
}

std::optional<mcp::Outcome> GatewayService::list_cached(server::Call& call, Kind kind) {
  Worker& worker = here();
  const UpstreamTable& upstreams = worker.upstreams();
  if (upstreams.any_on_demand) return std::nullopt;
  auto view = worker.view(call);
  const auto scope = worker.cache_scope(*view);
  return cached_page(std::move(view), scope, kind, call.request(), cursors_, options_.page_size);
}

Task<mcp::Outcome> GatewayService::list(server::Call& call, Kind kind) {
  if (auto lists = lists_behind(call)) co_await OwnLists::caught_up(std::move(lists), kCatchUp);
  if (auto cached = list_cached(call, kind)) co_return std::move(*cached);
  const auto pass = here().quota(call.caller().principal).enter_call();
  if (!pass) co_return std::unexpected(pass.error());
  LiveList list(call, here(), reach(), kind, cursors_, options_.page_size, observer_, clock_, options_.chance,
                remembered_);
  co_return co_await list.run();
}

// All that needs no waiting is done here: what a coroutine names it keeps, and calls under way are many.
Task<mcp::Outcome> GatewayService::forward(server::Call& call, const Timing& timing) {
  Worker& worker = here();
  auto place = take_place(call, worker);
  if (!place) return timing.refuse(std::move(place.error()));
  if (ParkedCalls::is_ticket(call.rounds().state)) return timing.around(resume(call, std::move(*place)));
  if (sign_ins_ != nullptr && sign_ins_->has_asked(call)) [[unlikely]]
    return forward_signed_in(call, timing, std::move(*place));
  auto route = route_at_once(call, worker);
  if (worker.upstreams().any_expiring) [[unlikely]] {
    if (auto expired = expired_on_way(route, call, worker); !expired.empty())
      return forward_fresh(call, timing, std::move(*place), std::move(expired));
  }
  if (route && !*route && route->error().kind() == ErrorKind::not_found) [[unlikely]] {
    if (auto lists = lists_behind(call)) return forward_caught_up(call, timing, std::move(*place), std::move(lists));
  }
  return forward(call, timing, std::move(*place), std::move(route), timing.began());
}

Task<mcp::Outcome> GatewayService::forward_caught_up(server::Call& call, Timing timing, ConcurrencyLimit::Pass place,
                                                     std::shared_ptr<OwnLists> lists) {
  co_await OwnLists::caught_up(std::move(lists), kCatchUp);
  co_return co_await forward(call, timing, std::move(place), route_at_once(call, here()), timing.now());
}

Task<mcp::Outcome> GatewayService::forward(server::Call& call, const Timing& timing, ConcurrencyLimit::Pass&& place,
                                           std::optional<Result<Route>>&& route, Clock::Monotonic began) {
  if (!route) return forward_by_lists(call, timing, std::move(place));
  if (!*route) return timing.refuse(std::move(route->error()));
  return dispatch(call, timing, {std::move(place), std::move(**route), began});
}

Task<Result<Route>> GatewayService::route_by_lists(server::Call& call) {
  std::string decoded;
  const auto wanted = wanted_by(call.request(), decoded);
  CallerLists lists(remembered_, Asker::of(call));
  Routing routing(lists, here());
  co_return checked(call,
                    co_await routing.run(*wanted, {reach(), observer_, clock_, options_.chance, call.cancellation()}),
                    refusals_);
}

Task<mcp::Outcome> GatewayService::forward_by_lists(server::Call& call, Timing timing, ConcurrencyLimit::Pass place) {
  auto route = co_await route_by_lists(call);
  if (!route) {
    mcp::Outcome outcome = std::unexpected(std::move(route.error()));
    timing.end(outcome);
    co_return outcome;
  }
  co_return co_await dispatch(call, timing, {std::move(place), std::move(*route), timing.now()});
}

Task<mcp::Outcome> GatewayService::dispatch(server::Call& call, const Timing& timing, Errand errand) {
  if (errand.route.local) return timing.around(answer_locally(call, std::move(errand)));
  if (is_connect_tool(call, errand.route)) [[unlikely]]
    return timing.around(connect(call, std::move(errand)));
  if (errand.route.shaped) [[unlikely]]
    return send_shaped(call, timing, std::move(errand));
  return send(call, timing, std::move(errand));
}

Task<mcp::Outcome> GatewayService::forward_fresh(server::Call& call, Timing timing, ConcurrencyLimit::Pass place,
                                                 std::vector<ServedUpstream> expired) {
  co_await freshen(std::move(expired));
  co_return co_await forward(call, timing, std::move(place), route_at_once(call, here()), timing.now());
}

// A name that nobody is known to have may be new at any of them.
std::vector<ServedUpstream> GatewayService::expired_on_way(const std::optional<Result<Route>>& route,
                                                           server::Call& call, Worker& worker) {
  if (route && *route) {
    const ServedUpstream& upstream = (*route)->upstream;
    return upstream && upstream->is_expired() ? std::vector{upstream} : std::vector<ServedUpstream>();
  }
  if (route && route->error().kind() != ErrorKind::not_found) return {};
  return expired_for(principal_of(call.caller()).access(), worker.upstreams());
}

Result<ConcurrencyLimit::Pass> GatewayService::take_place(server::Call& call, Worker& worker) {
  if (call.holds_place()) return ConcurrencyLimit::Pass();
  auto pass = worker.quota(call.caller().principal).enter_call();
  if (!pass || call.session() == nullptr) return pass;
  // Between its rounds such a call waits for its client, and is under way all the same.
  call.hold_place(std::make_shared<ConcurrencyLimit::Pass>(std::move(*pass)));
  return ConcurrencyLimit::Pass();
}

std::optional<Result<Route>> GatewayService::route_at_once(server::Call& call, Worker& worker) {
  std::string decoded;
  const auto wanted = wanted_by(call.request(), decoded);
  if (!wanted) return std::unexpected(wanted.error());
  CallerLists lists(remembered_, Asker::of(call));
  auto route = Routing(lists, worker).at_once(*wanted);
  if (route) route = checked(call, std::move(*route), refusals_);
  return route;
}

Task<mcp::Outcome> GatewayService::answer_locally(server::Call& call, Errand errand) {
  co_return co_await errand.route.local->handle(call, errand.route.found);
}

Result<> GatewayService::admit(const Route& route, UpstreamAttempts& attempts, const server::Call& call) const {
  const ServedUpstream& upstream = route.upstream;
  if (const auto& pins = upstream->pins()) {
    const bool by_template = route.found && route.found.definition->pattern != nullptr;
    const auto why = by_template ? pins->blocked(Kind::resource_template, route.found.definition->own)
                                 : pins->blocked(route.kind, route.own);
    if (why) return std::unexpected(drifted(*upstream.upstream, route.own, *why));
  }
  auto admitted = attempts.begin();
  if (attempts.cut_off() && observer_)
    observer_({upstream, call.request().method->method, {}, &admitted.error(), true});
  if (!admitted && !attempts.cut_off()) {
    refusals_.add({.reason = RefusalReason::limit,
                   .why = admitted.error().message(),
                   .principal = principal_of(call.caller()).name()});
  }
  return admitted;
}

Task<mcp::Outcome> GatewayService::send(server::Call& call, Timing timing, Errand errand, std::string_view arguments) {
  const ServedUpstream& upstream = errand.route.upstream;
  mcp::Outcome outcome;
  UpstreamAttempts attempts(upstream, call.request().method->method, errand.began, clock_, options_.chance);
  if (auto admitted = admit(errand.route, attempts, call); !admitted) {
    outcome = std::unexpected(std::move(admitted.error()));
    timing.end(outcome);
  } else {
    Forwarding forwarding(call, here(), reach(), errand.route, arguments);
    auto forwarded = co_await forwarding.run();
    while (!forwarded && co_await attempts.again(forwarded.error()))
      forwarded = co_await forwarding.run();
    if (!forwarded && upstream->is_per_caller()) [[unlikely]] {
      if (auto answered = co_await sign_in(call, upstream, forwarding, forwarded)) {
        attempts.report(forwarded);
        timing.end(*answered);
        co_return std::move(*answered);
      }
    }
    call.rounds().answers.clear();  // each round answers the questions of the one before
    attempts.report(forwarded);
    if (wants_refresh(forwarded)) co_await refresh_for(call.caller(), upstream);
    const auto ended = timing.now();
    outcome = conclude(call, upstream, ended - errand.began, std::move(forwarded));
    timing.end(outcome, ended);
  }
  co_return outcome;
}

Task<> GatewayService::refresh_for(const server::Caller& caller, const ServedUpstream& upstream) {
  upstream->lists_changed();
  if (!upstream->is_direct()) {
    co_await upstream->refresh();
  } else if (on_lists_changed_) {
    const auto facts = upstream->facts();
    catalog::KindSet kinds;
    for (const Kind kind : catalog::kKinds) {
      const bool offered = !facts || mcp::offers(facts->offers, catalog::info(kind).list_method);
      if (offered && principal_of(caller).access().may_have(kind)) kinds.add(kind);
    }
    on_lists_changed_(caller.principal, kinds);
  }
}

Task<mcp::Outcome> GatewayService::resume(server::Call& call, ConcurrencyLimit::Pass /*place*/) {
  auto taken = parked_.take(call.rounds().state);
  if (!taken) co_return std::unexpected(taken.error());
  const ServedUpstream upstream = taken->upstream;
  // Since it was parked its caller may have lost the upstream, the context or the name.
  auto at_once = route_at_once(call, here());
  auto route = at_once ? std::move(*at_once) : co_await route_by_lists(call);
  const bool elsewhere = route && (!route->upstream || route->upstream->name() != upstream->name());
  if (!route || elsewhere) {
    ParkedCalls::cancel(*taken);
    if (!route) co_return std::unexpected(std::move(route.error()));
    co_return std::unexpected(mcp::errors::invalid_params(
        "the upstream that asked for this input does not answer to this name any more. The call was cancelled"));
  }
  const auto began = clock_.now();
  auto forwarded = co_await wait_for_call(call, here(), parked_, std::move(*taken));
  if (wants_refresh(forwarded)) co_await refresh_for(call.caller(), upstream);
  co_return conclude(call, upstream, clock_.now() - began, std::move(forwarded));
}

// What a URI stands for may depend on who asks, whatever the upstream says of its own answer.
mcp::CacheScope GatewayService::widest_scope(const server::Call& call, const providers::Upstream& upstream) const {
  if (!call.request().method->cacheable || upstream.is_direct() || upstream.is_per_caller())
    return mcp::CacheScope::per_caller;
  Worker& worker = here();
  return worker.cache_scope(*worker.view(call));
}

mcp::Outcome GatewayService::conclude(server::Call& call, const ServedUpstream& upstream, std::chrono::nanoseconds took,
                                      Result<Forwarded> forwarded) const {
  if (observer_) {
    const auto* answer = forwarded ? std::get_if<client::Answer>(&*forwarded) : nullptr;
    observer_({.upstream = upstream,
               .method = call.request().method->method,
               .took = took,
               .error = forwarded ? nullptr : &forwarded.error(),
               .is_tool_error = answer != nullptr && is_tool_error(*answer)});
  }
  if (!forwarded) {
    if (auto required = visits_required(call, forwarded.error())) return std::move(*required);
    if (call.session() != nullptr && forwarded.error().rpc_code() == mcp::code::kMissingClientCapability) {
      return server::refusal(call, forwarded.error().message());
    }
    return std::unexpected(log_failure(call, *upstream.upstream, std::move(forwarded.error())));
  }
  if (auto* required = std::get_if<mcp::InputRequired>(&*forwarded)) return std::move(*required);
  return to_outcome(std::get<client::Answer>(*forwarded), call.request().era(), widest_scope(call, *upstream.upstream));
}

}  // namespace proteus::gateway
