#include "gateway/request/service.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "gateway/callers/principal.hpp"
#include "gateway/callers/search_definitions.hpp"
#include "gateway/grants/sign_ins.hpp"
#include "gateway/request/errand.hpp"
#include "gateway/request/live_lists.hpp"
#include "gateway/request/named_call.hpp"
#include "gateway/request/route_finder.hpp"
#include "gateway/routing/scope_check.hpp"
#include "gateway/upstreams/freshening.hpp"
#include "gateway/upstreams/local_provider.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"
#include "providers/http_tool/http_tool_call.hpp"

namespace proteus::gateway {
namespace {

using catalog::Kind;

// Whether the tool can be called only as a task, and the client's revision has no tasks: such clients are not shown it.
bool is_hidden_task(const Route& route, const mcp::Request& request) {
  return route.found && route.found.definition->task_only && !mcp::has_tasks(request.version);
}

// Checks the caller's scopes, and a tool's mirrored parameters against the headers.
Result<Route> checked(const server::Call& call, Result<Route> route, RefusalLog& refusals) {
  if (route && principal_of(call.caller()).scopes() != nullptr) [[unlikely]] {
    auto granted = check_scopes(*route, principal_of(call.caller()), refusals);
    if (!granted) return std::unexpected(std::move(granted.error()));
  }
  if (route && is_hidden_task(*route, call.request())) [[unlikely]]
    return std::unexpected(mcp::errors::unknown_tool(call.request().name));
  if (!route || call.headers() == nullptr || !route->found || route->found.definition->mirrored == nullptr) {
    return route;
  }
  const std::string_view raw = call.request().param("arguments");
  const auto arguments = json::parse(raw.empty() ? "{}" : raw);
  if (!arguments) {
    return std::unexpected(mcp::errors::invalid_params(
        fmt::format("params.arguments cannot be compared with the headers: {}", arguments.error().message())));
  }
  // Callers who found a tool by searching were not shown its header annotations.
  const auto missing = route->view->is_searched() ? mcp::MissingHeader::allowed : mcp::MissingHeader::refused;
  const auto held = mcp::check_mirrored(*route->found.definition->mirrored, *arguments, *call.headers(), missing);
  if (!held) return std::unexpected(held.error());
  return route;
}

mcp::Reply no_reader(const server::Call& call) {
  return providers::tool_error(
      fmt::format("{} does not declare that it changes nothing (readOnlyHint). Nothing was run; call it with {}.",
                  log::printable(call.request().name, 200), kCallTool));
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

GatewayService::GatewayService(ServiceOptions options, const net::Workers& threads, std::vector<Worker*> workers,
                               Subscriptions& subscriptions, const Clock& clock, SealingKey key, RefusalLog& refusals)
    : options_(std::move(options)),
      tail_(mcp::result_tail(options_.server_info)),
      threads_(threads),
      workers_(std::move(workers)),
      subscriptions_(subscriptions),
      clock_(clock),
      refusals_(refusals),
      cursors_(key),
      tasks_(key),
      parked_(options_.parking, clock, options_.process),
      confirmations_(clock, options_.process),
      remembered_(clock, options_.remembered) {}

ProcessKey GatewayService::holder_of(const server::Rounds& rounds) const {
  if (ParkedCalls::is_ticket(rounds.state)) return ParkedCalls::holder_of(rounds.state);
  ProcessKey holder = Confirmations::holder_of(rounds.state);
  if (holder.value().empty() && sign_ins_ != nullptr) holder = sign_ins_->holder_of(rounds.state);
  return holder;
}

Worker& GatewayService::here() const { return *workers_[threads_.here()]; }

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
  // Calls of a session end with the session.
  if (call.session() == nullptr && !call.is_linked()) here().running().push_back(call);
  if (auto checked = check_meta(call.request(), options_.meta); !checked)
    return timing.refuse(std::move(checked.error()));
  if (const auto kind = listed_by(call.request().method->method)) return timing.around(list(call, *kind));
  if (mcp::is_about_tasks(call.request().method->method)) [[unlikely]]
    return about_tasks(call, timing);
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
  auto view = worker.listed_view(call);
  const auto scope = worker.cache_scope(*view);
  return cached_page(std::move(view), scope, kind, call.request(), cursors_, options_.page_size);
}

Task<mcp::Outcome> GatewayService::list(server::Call& call, Kind kind) {
  if (auto lists = lists_behind(call)) co_await OwnLists::caught_up(std::move(lists), OwnLists::kUsualWait);
  if (auto cached = list_cached(call, kind)) co_return std::move(*cached);
  const auto pass = here().quota(call.caller().principal).enter_call();
  if (!pass) co_return std::unexpected(pass.error());
  LiveList list(call, here(), means(), kind, cursors_, options_.page_size, remembered_);
  co_return co_await list.run();
}

// Does everything that needs no waiting outside of a coroutine: a coroutine's frame keeps its locals, and many calls
// are under way.
Task<mcp::Outcome> GatewayService::forward(server::Call& call, const Timing& timing) {
  Worker& worker = here();
  auto place = take_place(call, worker);
  if (!place) return timing.refuse(std::move(place.error()));
  if (may_name_call(call.request())) [[unlikely]] {
    if (auto named = name_call(call, *worker.view(call)); !named)
      return timing.around(answer_with(providers::tool_error(named.error().message())));
  }
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
  co_await OwnLists::caught_up(std::move(lists), OwnLists::kUsualWait);
  co_return co_await forward(call, timing, std::move(place), route_at_once(call, here()), timing.now());
}

Task<mcp::Outcome> GatewayService::forward(server::Call& call, const Timing& timing, ConcurrencyLimit::Pass&& place,
                                           std::optional<Result<Route>>&& route, Clock::Monotonic began) {
  if (!route) return forward_by_lists(call, timing, std::move(place));
  if (!*route) return refuse(call, timing, std::move(route->error()));
  return dispatch(call, timing, {std::move(place), std::move(**route), began});
}

Task<Result<Route>> GatewayService::route_by_lists(server::Call& call) {
  std::string decoded;
  auto wanted = wanted_by(call.request(), decoded);
  wanted->as_listed = call.stands_for_another();
  CallerLists lists(remembered_, Asker::of(call));
  RouteFinder finder(lists, here());
  co_return checked(call, co_await finder.run(*wanted, means(), call.cancellation()), refusals_);
}

Task<mcp::Outcome> GatewayService::forward_by_lists(server::Call& call, Timing timing, ConcurrencyLimit::Pass place) {
  auto route = co_await route_by_lists(call);
  if (!route) co_return co_await refuse(call, timing, std::move(route.error()));
  co_return co_await dispatch(call, timing, {std::move(place), std::move(*route), timing.now()});
}

Task<mcp::Outcome> GatewayService::dispatch(server::Call& call, const Timing& timing, Errand errand) {
  if (call.only_reads() && !errand.route.read_only) [[unlikely]]
    return timing.around(answer_with(no_reader(call)));
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

// An unknown name may be new at any upstream whose list has expired.
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
  // Such a call waits for its client between rounds, and counts as running all the time.
  call.hold_place(std::make_shared<ConcurrencyLimit::Pass>(std::move(*pass)));
  return ConcurrencyLimit::Pass();
}

std::optional<Result<Route>> GatewayService::route_at_once(server::Call& call, Worker& worker) {
  std::string decoded;
  auto wanted = wanted_by(call.request(), decoded);
  if (!wanted) return std::unexpected(wanted.error());
  wanted->as_listed = call.stands_for_another();
  CallerLists lists(remembered_, Asker::of(call));
  auto route = RouteFinder(lists, worker).at_once(*wanted);
  if (route) route = checked(call, std::move(*route), refusals_);
  return route;
}

Task<mcp::Outcome> GatewayService::answer_locally(server::Call& call, Errand errand) {
  co_return co_await errand.route.local->handle(call, errand.route.found);
}

}  // namespace proteus::gateway
