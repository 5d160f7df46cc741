// Calls of tools that an operator has shaped: arguments are added, or the user must confirm.
#include <fmt/format.h>

#include "gateway/confirmation/confirmation_text.hpp"
#include "gateway/request/errand.hpp"
#include "json/canonical.hpp"
#include "json/text.hpp"
#include "providers/http_tool/http_tool_call.hpp"

namespace proteus::gateway {
namespace {

using providers::tool_error;

// Whether this state is of a call that was sent and needs another round. The upstream's own state may be empty.
bool is_after_sending(std::string_view state) { return state.empty() || is_state_after_sending(state); }

// Whether the call of a legacy client was already confirmed and sent: its later rounds answer questions of the
// upstream. A modern client could send such a round any number of times.
bool has_been_sent(const server::Call& call) {
  return call.session() != nullptr && call.rounds().round > 0 && is_after_sending(call.rounds().state);
}

// Returns a digest of the tool and its exact arguments; numbers count as they are written.
Result<std::string> digest_of(const Route& route, std::string_view arguments) {
  const auto text = json::canonical_text(arguments);
  if (!text) return std::unexpected(text.error());
  return json::hex(json::sha256(fmt::format("{}\n{}\n{}", route.upstream->name().value(), route.own, *text)));
}

}  // namespace

Task<mcp::Outcome> GatewayService::send_shaped(server::Call& call, Timing timing, Errand errand) {
  const auto tool = errand.route.shaped;
  std::string arguments;
  if (!tool->fixed.empty() || !tool->defaults.empty()) {
    const std::string_view given = call.request().param("arguments");
    auto completed = given.size() <= BackgroundThreads::kSmall
                         ? tool->complete(given)
                         : co_await errand.route.upstream->background().run(
                               [tool, copy = std::string(given)] { return tool->complete(copy); });
    if (!completed) {
      mcp::Outcome refused = tool_error(completed.error().message());
      timing.end(refused);
      co_return refused;
    }
    arguments = std::move(*completed);
  }
  if (!tool->asks || has_been_sent(call)) co_return co_await send(call, timing, std::move(errand), arguments);
  co_return co_await send_confirmed(call, timing, std::move(errand), arguments);
}

// The user sees the caller's arguments and the defaults, but not what the operator has fixed.
Task<mcp::Outcome> GatewayService::send_confirmed(server::Call& call, Timing timing, Errand errand,
                                                  std::string_view arguments) {
  const std::string_view given = call.request().param("arguments");
  // Canonicalizing takes much longer than reading, and arguments twice as long as the longest question never fit into
  // one.
  if (given.size() > 2 * kLongestQuestion) {
    mcp::Outcome refused = Confirmations::too_long();
    timing.end(refused);
    co_return refused;
  }
  const auto shown = errand.route.shaped->with_defaults(given);
  const std::string_view sent = !arguments.empty() ? arguments : given.empty() ? std::string_view("{}") : given;
  const auto digest = digest_of(errand.route, sent);
  if (!shown || !digest) {
    mcp::Outcome refused =
        tool_error(fmt::format("This tool runs only after the user has confirmed it, and its "
                               "arguments cannot be shown: {} Nothing was run.",
                               (shown ? digest.error() : shown.error()).message()));
    timing.end(refused);
    co_return refused;
  }
  bool sends = false;
  const ServedUpstream upstream = errand.route.upstream;
  const Confirmations::Run run = [&] {
    const auto* const now = here().upstreams().find(upstream->settings().name);
    if (now == nullptr || now->instance != upstream.instance) {
      return answer_with(
          tool_error("The tool was changed or removed while confirmation was awaited. Nothing was run."));
    }
    sends = true;
    return send(call, timing, std::move(errand), arguments);
  };
  const std::string_view inside = std::string_view(*shown).substr(1, shown->size() - 2);
  // What was sent without a confirmation, before the tool asked for one, begins anew.
  if (is_state_after_sending(call.rounds().state)) call.rounds().state.clear();
  mcp::Outcome outcome = co_await confirmations_.ask_first(call, {call.request().name, inside, *digest}, run);
  auto* const required = sends && outcome ? std::get_if<mcp::InputRequired>(&*outcome) : nullptr;
  // The ticket of a parked call is good for one retry by itself, and a call that waits for a sign-in was not run.
  if (required != nullptr && call.session() == nullptr && is_after_sending(required->state))
    required->state = confirmations_.state_to_go_on(*digest, required->state);
  if (!sends) timing.end(outcome);
  co_return outcome;
}

}  // namespace proteus::gateway
