#include "server/core/modern_answer.hpp"

#include <fmt/format.h>

#include "mcp/errors.hpp"
#include "mcp/jsonrpc.hpp"
#include "server/core/client_requests.hpp"

namespace proteus::server {

bool ModernRound::goes_on() const {
  const mcp::Request& request = call_.sent();
  return request.method->may_ask &&
         (!request.param("requestState").empty() || !request.param("inputResponses").empty());
}

const Result<std::string>& ModernRound::mark() {
  if (!mark_) mark_ = mark_of(call_.sent().param("arguments"));
  return *mark_;
}

Result<void> ModernRound::open() {
  if (!goes_on()) return {};
  went_on_ = true;
  const bool is_bound = !call_.sent().param("requestState").empty();
  if (is_bound && !mark()) return std::unexpected(mark().error());
  auto rounds = states_.open(call_.sent(), call_.caller(), is_bound ? *mark() : std::string_view{});
  if (!rounds) return std::unexpected(rounds.error());
  call_.rounds() = std::move(*rounds);
  return {};
}

void ModernRound::close(mcp::Outcome& outcome) {
  const auto* required = outcome ? std::get_if<mcp::InputRequired>(&*outcome) : nullptr;
  if (required == nullptr) return;
  if (auto minted = mint(*required); !minted) outcome = std::unexpected(minted.error());
}

Result<void> ModernRound::mint(const mcp::InputRequired& required) {
  if (required.requests.empty() && required.state.empty()) {
    return std::unexpected(errors::internal("The server asks for input without a question"));
  }
  std::string missing = missing_capabilities(required, call_.client());
  if (!missing.empty()) return std::unexpected(mcp::errors::missing_capability(std::move(missing)));
  if (!mark()) return std::unexpected(mark().error());
  ++call_.rounds().round;
  call_.rounds().state = required.state;
  auto state = states_.mint(call_.sent(), call_.caller(), *mark(), call_.rounds());
  if (!state) return std::unexpected(state.error());
  request_state_ = std::move(*state);
  return {};
}

std::string ModernRound::write(const mcp::Outcome& outcome, const mcp::ResultStyle& style) const {
  const mcp::Request& request = call_.sent();
  if (!outcome) return mcp::write_error(request.id(), outcome.error(), mcp::Era::modern);
  if (const auto* reply = std::get_if<mcp::Reply>(&*outcome)) {
    return mcp::write_result(request.id(), *request.method, *reply, style);
  }
  return mcp::write_input_required(request.id(), std::get<mcp::InputRequired>(*outcome), request_state_, style);
}

Task<mcp::Outcome> run_round(ModernRound& round, Service& service, Call& call) {
  try {
    if (auto opened = round.open(); !opened) co_return std::unexpected(opened.error());
    mcp::Outcome outcome = co_await service.handle(call);
    round.close(outcome);
    co_return outcome;
  } catch (...) {
    co_return std::unexpected(service.failed(call.request()));
  }
}

mcp::Reply discover_reply(Service& service, const Caller& caller, mcp::Eras eras) {
  const Service::Face face = service.face(caller, mcp::Era::modern);
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

std::vector<std::string> refused_uris(const std::vector<Service::Refused>& refused) {
  std::vector<std::string> uris;
  uris.reserve(refused.size());
  for (const auto& one : refused)
    uris.push_back(one.uri);
  return uris;
}

}  // namespace proteus::server
