// Requests that an upstream refuses because of who makes them.
#include <fmt/format.h>

#include "gateway/grants/sign_ins.hpp"
#include "gateway/request/forwarding.hpp"
#include "gateway/request/service.hpp"
#include "gateway/upstreams/upstream_attempts.hpp"

namespace proteus::gateway {
namespace {

bool is_about_access(const Error& error) {
  return error.kind() == ErrorKind::unauthenticated || error.kind() == ErrorKind::forbidden;
}

}  // namespace

Task<std::optional<mcp::Outcome>> GatewayService::sign_in(server::Call& call, const Route& route,
                                                          UpstreamAttempts& attempts, Forwarding& forwarding,
                                                          Result<Forwarded>& forwarded) {
  const ServedUpstream& upstream = route.upstream;
  if (!is_about_access(forwarded.error())) co_return std::nullopt;
  const auto& authorizer = forwarding.authorizer();
  auto missing = authorizer ? authorizer->take_missing() : GrantAuthorizer::Missing{};
  const bool asks = sign_ins_ != nullptr && (!missing.scopes.empty() || here().must_sign_in(upstream, call.caller()));
  if (asks) {
    // A person takes a while; nobody else waits for that.
    attempts.report(forwarded);
    auto answered = co_await sign_ins_->ask(call, {upstream, std::move(missing.scopes), std::move(missing.challenge)});
    if (answered) co_return answered;
    if (auto admitted = admit(route, attempts, call); !admitted) co_return std::unexpected(std::move(admitted.error()));
    forwarded = co_await forwarding.run();
    if (forwarded || !is_about_access(forwarded.error())) co_return std::nullopt;
  }
  attempts.report(forwarded);
  // What is known of it is about this caller, and not about the gateway.
  co_return std::unexpected(Error(forwarded.error()).within(fmt::format("upstream {}", upstream->settings().name)));
}

}  // namespace proteus::gateway
