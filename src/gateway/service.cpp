#include "gateway/service.hpp"

#include <algorithm>
#include <atomic>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/log.hpp"
#include "client/attempt.hpp"
#include "client/calls.hpp"
#include "gateway/bridge/questions.hpp"
#include "gateway/forwarding.hpp"
#include "gateway/instructions.hpp"
#include "gateway/live_lists.hpp"
#include "gateway/local_provider.hpp"
#include "gateway/principal.hpp"
#include "gateway/retries.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"
#include "mcp/jsonrpc.hpp"
#include "mcp/over_limit.hpp"
#include "server/asking.hpp"

namespace proteus::gateway {
namespace {

using catalog::Kind;

constexpr std::chrono::seconds kRetryAfter{1};

// A fault on the way says whose it is; what an upstream answered speaks for itself.
Error named(Error error, const providers::Upstream& upstream) {
  if (error.kind() == ErrorKind::remote || error.kind() == ErrorKind::cancelled) return error;
  return std::move(error).within(fmt::format("upstream {}", upstream.settings().name));
}

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
  if (required) required->state = "visited";
  call.rounds().answers.clear();
  return required;
}

// The answer says that what the upstream offers has changed, and the very next list is to show it.
bool changes_what_is_cached(const Result<Forwarded>& forwarded, const providers::Upstream& upstream) {
  if (!forwarded || upstream.is_direct()) return false;
  const auto* answer = std::get_if<client::Answer>(&*forwarded);
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

void log_failure(server::Call& call, const providers::Upstream& upstream, const Error& error) {
  if (error.kind() == ErrorKind::remote || error.kind() == ErrorKind::cancelled) return;
  log::event(log::Level::info, "a request did not get through",
             {{"request", call.log_id()},
              {"upstream", upstream.settings().name},
              {"method", std::string(call.request().method->name)},
              {"error", log::printable(error.message())}});
}

}  // namespace

std::optional<Kind> listed_by(mcp::Method method) {
  for (const Kind kind : catalog::kKinds) {
    if (catalog::info(kind).list_method == method) return kind;
  }
  return std::nullopt;
}

GatewayService::GatewayService(ServiceOptions options, std::vector<Worker*> workers, Hearing& hearing,
                               const Clock& clock, SealingKey cursor_key, RefusalLog& refusals)
    : number_(next_number()),
      options_(std::move(options)),
      tail_(mcp::result_tail(options_.server_info)),
      workers_(std::move(workers)),
      hearing_(hearing),
      clock_(clock),
      refusals_(refusals),
      cursors_(cursor_key),
      parked_(options_.parking, clock) {}

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
mcp::ServerCapabilities GatewayService::offered_to(const catalog::View& view, const UpstreamTable& upstreams) {
  mcp::ServerCapabilities offered;
  offered.tools.offered = true;
  for (const ServedUpstream& served : upstreams.order) {
    if (!view.access().allows(served->name())) continue;
    const auto facts = served->facts();
    mcp::ServerCapabilities everything;
    everything.prompts.offered = everything.resources.offered = true;
    everything.subscribe = everything.completions = everything.logging = true;
    offered = join(offered, facts ? facts->offers : everything);
  }
  offered.prompts.offered = offered.prompts.offered || view.count(Kind::prompt) > 0;
  offered.resources.offered = offered.resources.offered || view.count(Kind::resource) > 0;
  for (auto* kind : {&offered.tools, &offered.prompts, &offered.resources})
    kind->list_changed = kind->offered;
  return offered;
}

server::Service::Face GatewayService::face(const server::Caller& caller) {
  Worker& worker = here();
  const auto view = worker.view(caller);
  const auto outlook = worker.outlook(caller);
  return {offered_to(*view, worker.upstreams()),
          {options_.server_info, instructions_for(outlook.get(), *view, worker.upstreams())},
          {std::chrono::milliseconds(0), view->is_shared() ? mcp::CacheScope::shared : mcp::CacheScope::per_caller}};
}

mcp::SubscriptionFilter GatewayService::accept(const mcp::SubscriptionFilter& wanted, const server::Caller& caller,
                                               server::Session* session) {
  Worker& worker = here();
  const auto view = worker.view(caller, session);
  const mcp::ServerCapabilities offered = offered_to(*view, worker.upstreams());
  mcp::SubscriptionFilter accepted;
  accepted.tools = wanted.tools && offered.tools.offered;
  accepted.prompts = wanted.prompts && offered.prompts.offered;
  accepted.resources = wanted.resources && offered.resources.offered;
  if (!offered.subscribe) return accepted;
  for (const auto& uri : wanted.uris) {
    if (uri.size() > catalog::kLongestUri) continue;
    if (view->lens() != nullptr && !view->lens()->admits(Kind::resource, {uri, uri})) continue;
    const bool live = std::ranges::any_of(worker.upstreams().order, [&](const ServedUpstream& served) {
      return served->is_direct() && view->access().allows(served->name());
    });
    if (live || view->find(Kind::resource, uri) || view->match_template(uri)) accepted.uris.push_back(uri);
  }
  return accepted;
}

// How long a request takes; told of when it ends.
class GatewayService::Timing {
 public:
  Timing(const GatewayService& service, server::Call& call)
      : service_(service), call_(call), began_(service.clock_.now()) {}

  Clock::Monotonic began() const { return began_; }
  Clock::Monotonic now() const { return service_.clock_.now(); }
  void end(const mcp::Outcome& outcome) const { end(outcome, now()); }
  void end(const mcp::Outcome& outcome, Clock::Monotonic now) const {
    const mcp::Request& request = call_.request();
    const auto took = now - began_;
    if (service_.request_observer_) {
      service_.request_observer_({request.method->method, request.era(), took, outcome});
    }
    if (log::enabled(log::Level::debug)) [[unlikely]]
      log_answer(call_, took, outcome);
  }
  // What ends with this answer, when that is there.
  Task<mcp::Outcome> around(Task<mcp::Outcome> answering) const { return end_with(*this, std::move(answering)); }
  Task<mcp::Outcome> refuse(Error why) const { return end_refused(*this, std::move(why)); }

 private:
  static Task<mcp::Outcome> end_with(Timing timing, Task<mcp::Outcome> answering) {
    mcp::Outcome outcome = co_await std::move(answering);
    timing.end(outcome);
    co_return outcome;
  }
  static Task<mcp::Outcome> end_refused(Timing timing, Error why) {
    mcp::Outcome outcome = std::unexpected(std::move(why));
    timing.end(outcome);
    co_return outcome;
  }

  const GatewayService& service_;
  server::Call& call_;
  const Clock::Monotonic began_;
};

// What a request that goes to an upstream has, and needs.
struct GatewayService::Errand {
  Turnstile::Pass place;  // among its caller's
  Route route;
};

std::optional<mcp::Outcome> GatewayService::answer(server::Call& call) {
  const auto kind = listed_by(call.request().method->method);
  if (!kind) return std::nullopt;
  const Timing timing(*this, call);
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
  if (auto checked = check_meta(call.request(), options_.meta); !checked)
    return timing.refuse(std::move(checked.error()));
  if (const auto kind = listed_by(call.request().method->method)) return timing.around(list(call, *kind));
  return forward(call, timing);
}

std::optional<mcp::Outcome> GatewayService::list_cached(server::Call& call, Kind kind) {
  Worker& worker = here();
  const UpstreamTable& upstreams = worker.upstreams();
  if (upstreams.any_on_demand) return std::nullopt;
  return cached_page(worker.view(call), kind, call.request(), cursors_, options_.page_size);
}

Task<mcp::Outcome> GatewayService::list(server::Call& call, Kind kind) {
  if (auto cached = list_cached(call, kind)) co_return std::move(*cached);
  const auto pass = here().quota(call.caller().principal).enter_call();
  if (!pass) co_return std::unexpected(pass.error());
  LiveList list(call, here(), reach(), kind, cursors_, options_.page_size, observer_, clock_, options_.chance);
  co_return co_await list.run();
}

// All that needs no waiting is done here: what a coroutine names it keeps, and calls under way are many.
Task<mcp::Outcome> GatewayService::forward(server::Call& call, const Timing& timing) {
  Worker& worker = here();
  auto place = take_place(call, worker);
  if (!place) return timing.refuse(std::move(place.error()));
  if (ParkedCalls::is_ticket(call.rounds().state)) return timing.around(resume(call, std::move(*place)));
  auto route = route_of(call, worker);
  if (!route) return timing.refuse(std::move(route.error()));
  Errand errand{std::move(*place), std::move(*route)};
  if (errand.route.local) return timing.around(answer_locally(call, std::move(errand)));
  return send(call, timing, std::move(errand));
}

Result<Turnstile::Pass> GatewayService::take_place(server::Call& call, Worker& worker) {
  if (call.holds_place()) return Turnstile::Pass();
  auto pass = worker.quota(call.caller().principal).enter_call();
  if (!pass || call.session() == nullptr) return pass;
  // Between its rounds such a call waits for its client, and is under way all the same.
  call.hold_place(std::make_shared<Turnstile::Pass>(std::move(*pass)));
  return Turnstile::Pass();
}

Result<Route> GatewayService::route_of(server::Call& call, Worker& worker) {
  const auto outlook = worker.outlook(call.caller());
  auto route = find_route(call, worker.view(call), worker.upstreams(), outlook ? outlook->guide : nullptr);
  if (!route || call.headers() == nullptr || !route->found || route->found.definition->mirrored == nullptr) {
    return route;
  }
  const std::string_view raw = call.request().param("arguments");
  const auto arguments = json::parse(raw.empty() ? "{}" : raw);
  if (!arguments) {
    return std::unexpected(mcp::errors::invalid_params(
        fmt::format("params.arguments cannot be compared with the headers: {}", arguments.error().message())));
  }
  const auto checked = mcp::check_mirrored(*route->found.definition->mirrored, *arguments, *call.headers());
  if (!checked) return std::unexpected(checked.error());
  return route;
}

Task<mcp::Outcome> GatewayService::answer_locally(server::Call& call, Errand errand) {
  co_return co_await errand.route.local->handle(call, errand.route.found);
}

Result<Turnstile::Pass> GatewayService::enter(const Route& route, server::Call& call) const {
  const ServedUpstream& upstream = route.upstream;
  if (const auto& pins = upstream->pins()) {
    const bool by_template = route.found && route.found.definition->pattern != nullptr;
    const auto why = by_template ? pins->blocked(Kind::resource_template, route.found.definition->own)
                                 : pins->blocked(route.kind, route.own);
    if (why) return std::unexpected(drifted(*upstream.upstream, route.own, *why));
  }
  Turnstile::Pass pass = upstream.calls->enter();
  if (!pass) {
    std::string why = fmt::format("upstream {} has as many calls under way as it may", upstream->settings().name);
    refusals_.add({.reason = RefusalReason::limit, .why = why, .principal = principal_of(call.caller()).name()});
    return std::unexpected(mcp::errors::over_limit(std::move(why), kRetryAfter));
  }
  if (!upstream->breaker().allows()) {
    Error open = errors::unreachable(fmt::format(
        "upstream {} has failed repeatedly and is not asked for now; try again later", upstream->settings().name));
    if (observer_) observer_({upstream, call.request().method->method, {}, &open, true});
    return std::unexpected(std::move(open));
  }
  return pass;
}

Task<mcp::Outcome> GatewayService::send(server::Call& call, Timing timing, Errand errand) {
  const ServedUpstream& upstream = errand.route.upstream;
  auto began = timing.began();
  if (upstream->settings().ttl.count() > 0) {
    co_await upstream->freshen();
    began = timing.now();
  }
  mcp::Outcome outcome;
  if (auto entered = enter(errand.route, call); !entered) {
    outcome = std::unexpected(std::move(entered.error()));
    timing.end(outcome);
  } else {
    client::Attempt attempt(upstream->breaker());
    Forwarding forwarding(call, here(), reach(), errand.route);
    auto forwarded = co_await forwarding.run();
    if (!forwarded) {
      Retries retries(call.request().method->method, clock_, options_.chance);
      while (const auto wait = forwarded ? std::nullopt : retries.next(forwarded.error())) {
        boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor, *wait);
        co_await pause.async_wait(boost::asio::use_awaitable);
        forwarded = co_await forwarding.run();
      }
    }
    call.rounds().answers.clear();  // each round answers the questions of the one before
    attempt.report(forwarded);
    if (changes_what_is_cached(forwarded, *upstream.upstream)) co_await upstream->refresh();
    const auto ended = timing.now();
    outcome = conclude(call, upstream, ended - began, std::move(forwarded));
    timing.end(outcome, ended);
  }
  co_return outcome;
}

Task<mcp::Outcome> GatewayService::resume(server::Call& call, Turnstile::Pass /*place*/) {
  auto taken = parked_.take(call.rounds().state);
  if (!taken) co_return std::unexpected(taken.error());
  const ServedUpstream upstream = taken->upstream;
  // Since it was parked its caller may have lost the upstream, the context or the name.
  auto route = route_of(call, here());
  const bool elsewhere = route && (!route->upstream || route->upstream->name() != upstream->name());
  if (!route || elsewhere) {
    ParkedCalls::cancel(*taken);
    if (!route) co_return std::unexpected(std::move(route.error()));
    co_return std::unexpected(mcp::errors::invalid_params(
        "the upstream that asked for this input does not answer to this name any more. The call was cancelled"));
  }
  const auto began = clock_.now();
  auto forwarded = co_await attend(call, here(), parked_, std::move(*taken));
  if (changes_what_is_cached(forwarded, *upstream.upstream)) co_await upstream->refresh();
  co_return conclude(call, upstream, clock_.now() - began, std::move(forwarded));
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
    log_failure(call, *upstream.upstream, forwarded.error());
    return std::unexpected(named(std::move(forwarded.error()), *upstream.upstream));
  }
  if (auto* required = std::get_if<mcp::InputRequired>(&*forwarded)) return std::move(*required);
  return to_outcome(std::get<client::Answer>(*forwarded), call.request().era());
}

}  // namespace proteus::gateway
