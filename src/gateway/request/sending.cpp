// Sends routed calls to upstreams and turns their answers into outcomes.
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "client/connection/calls.hpp"
#include "gateway/bridge/questions.hpp"
#include "gateway/callers/principal.hpp"
#include "gateway/request/errand.hpp"
#include "gateway/request/forwarding.hpp"
#include "gateway/request/service.hpp"
#include "gateway/routing/task_translation.hpp"
#include "gateway/upstreams/upstream_attempts.hpp"
#include "gateway/upstreams/upstream_errors.hpp"
#include "mcp/errors.hpp"
#include "server/core/asking.hpp"

namespace proteus::gateway {
namespace {

using catalog::Kind;

Error drifted(const providers::Upstream& upstream, std::string_view name, std::string_view why) {
  return errors::conflict(
      fmt::format("{} of upstream {} is blocked: the upstream has changed this pinned definition so that it would "
                  "misread calls by the ratified one ({}); an operator must review the change",
                  log::printable(name, 200), upstream.settings().name, why));
}

// Translates a legacy upstream's error that sends the user to URLs: a modern client gets questions, and its retry runs
// the request again, as in the legacy era.
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

}  // namespace

void UpstreamMeans::tell_refused(const UpstreamAttempts& attempts, UpstreamRequest request,
                                 const server::Caller& caller) const {
  if (!attempts.cut_off()) {
    refusals.add(
        {.reason = RefusalReason::limit, .why = request.error->message(), .principal = principal_of(caller).name()});
  } else if (observer) {
    request.cut_off = true;
    observer(request);
  }
}

Result<> GatewayService::admit(const Route& route, UpstreamAttempts& attempts, const server::Call& call) {
  const ServedUpstream& upstream = route.upstream;
  if (const auto& pins = upstream->pins()) {
    const bool by_template = route.found && route.found.definition->pattern != nullptr;
    const auto why = by_template ? pins->blocked(Kind::resource_template, route.found.definition->own)
                                 : pins->blocked(route.kind, route.own);
    if (why) return std::unexpected(drifted(*upstream.upstream, route.own, *why));
  }
  auto admitted = attempts.begin();
  if (!admitted) [[unlikely]] {
    const mcp::Method method = call.request().method->method;
    means().tell_refused(
        attempts, {.upstream = upstream, .method = method, .took = {}, .error = &admitted.error(), .call = &call},
        call.caller());
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
    forwarding.set_task(errand.task);
    auto forwarded = co_await forwarding.run();
    while (!forwarded && co_await attempts.again(forwarded.error()))
      forwarded = co_await forwarding.run();
    if (!forwarded && upstream->is_per_caller()) [[unlikely]] {
      if (auto answered = co_await sign_in(call, errand, attempts, forwarding, forwarded)) {
        timing.end(*answered);
        co_return std::move(*answered);
      }
    }
    call.rounds().answers.clear();  // each round answers the questions of the previous one
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
  // While the call was parked, its caller may have lost the upstream, the context or the name.
  auto at_once = route_at_once(call, here());
  auto route = at_once ? std::move(*at_once) : co_await route_by_lists(call);
  const bool elsewhere = route && (!route->upstream || route->upstream->name() != upstream->name());
  if (!route || elsewhere) {
    ParkedCalls::cancel(*taken);
    if (!route) co_return std::unexpected(std::move(route.error()));
    co_return std::unexpected(mcp::errors::invalid_params(
        "this name no longer belongs to the upstream that asked for this input. The call was cancelled"));
  }
  const auto began = clock_.now();
  auto forwarded = co_await wait_for_call(call, here(), parked_, std::move(*taken));
  if (wants_refresh(forwarded)) co_await refresh_for(call.caller(), upstream);
  co_return conclude(call, upstream, clock_.now() - began, std::move(forwarded));
}

// Returns how widely an answer may be cached. What a URI stands for may depend on the caller, whatever the upstream
// declares.
mcp::CacheScope GatewayService::widest_scope(const server::Call& call, const providers::Upstream& upstream) const {
  if (!call.request().method->cacheable || upstream.is_direct() || upstream.is_per_caller())
    return mcp::CacheScope::per_caller;
  Worker& worker = here();
  return worker.cache_scope(*worker.view(call));
}

void GatewayService::tell_observer(server::Call& call, const ServedUpstream& upstream, std::chrono::nanoseconds took,
                                   const Result<Forwarded>& forwarded) const {
  if (!observer_) return;
  const auto* answer = forwarded ? std::get_if<client::Answer>(&*forwarded) : nullptr;
  observer_({.upstream = upstream,
             .method = call.request().method->method,
             .took = took,
             .error = forwarded ? nullptr : &forwarded.error(),
             .is_tool_error = answer != nullptr && is_tool_error(*answer),
             .call = &call});
}

mcp::Outcome GatewayService::conclude(server::Call& call, const ServedUpstream& upstream, std::chrono::nanoseconds took,
                                      Result<Forwarded> forwarded) const {
  tell_observer(call, upstream, took, forwarded);
  if (!forwarded) {
    if (auto required = visits_required(call, forwarded.error())) return std::move(*required);
    if (call.session() != nullptr && forwarded.error().rpc_code() == mcp::code::kMissingClientCapability) {
      return server::refusal(call, forwarded.error().message());
    }
    return std::unexpected(log_failure(call, *upstream.upstream, std::move(forwarded.error())));
  }
  if (auto* required = std::get_if<mcp::InputRequired>(&*forwarded)) return std::move(*required);
  const auto& answer = std::get<client::Answer>(*forwarded);
  if (is_of_task(call.request(), answer)) [[unlikely]]
    return task_outcome(call, upstream, answer);
  return to_outcome(answer, call.request().era(), widest_scope(call, *upstream.upstream));
}

}  // namespace proteus::gateway
