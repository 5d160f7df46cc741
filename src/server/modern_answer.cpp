#include "server/modern_answer.hpp"

#include <fmt/format.h>

#include "mcp/errors.hpp"
#include "mcp/jsonrpc.hpp"
#include "server/client_requests.hpp"

namespace proteus::server {

Task<mcp::Outcome> ModernAnswer::run(Call& call) {
  const mcp::Request& request = call.request();
  if (request.method->may_ask && (!request.param("requestState").empty() || !request.param("inputResponses").empty())) {
    auto rounds = states_.open(request, call.caller());
    if (!rounds) co_return std::unexpected(rounds.error());
    call.rounds() = std::move(*rounds);
  }
  mcp::Outcome outcome = co_await service_.handle(call);
  if (!outcome) co_return outcome;
  const auto* required = std::get_if<mcp::InputRequired>(&*outcome);
  if (required == nullptr) co_return outcome;

  std::string missing = missing_capabilities(*required, call.client());
  if (!missing.empty()) co_return std::unexpected(mcp::errors::missing_capability(std::move(missing)));
  ++call.rounds().round;
  call.rounds().state = required->state;
  auto state = states_.mint(request, call.caller(), call.rounds());
  if (!state) co_return std::unexpected(state.error());
  request_state_ = std::move(*state);
  co_return outcome;
}

mcp::Reply discover_reply(Service& service, const Caller& caller, mcp::Eras eras) {
  const Service::Face face = service.face(caller);
  mcp::Reply reply;
  reply.members.add(mcp::discover_members(eras, face.capabilities, face.identity));
  reply.caching = face.caching;
  return reply;
}

std::string listen_result(std::string_view id, const mcp::ResultStyle& style) {
  mcp::Reply reply;
  reply.meta = fmt::format(R"("{}":{})", mcp::meta::kSubscriptionId, id);
  return mcp::write_result(id, *mcp::find_method(mcp::Era::modern, mcp::Sender::client, "subscriptions/listen"), reply,
                           style);
}

}  // namespace proteus::server
