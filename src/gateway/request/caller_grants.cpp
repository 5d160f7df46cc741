// Requests that an upstream refuses because of their caller.
#include <fmt/format.h>

#include "gateway/grants/sign_ins.hpp"
#include "gateway/request/errand.hpp"
#include "gateway/request/forwarding.hpp"
#include "gateway/upstreams/upstream_attempts.hpp"
#include "gateway/upstreams/upstream_errors.hpp"

namespace proteus::gateway {
namespace {

bool is_about_access(const Error& error) {
  return error.kind() == ErrorKind::unauthenticated || error.kind() == ErrorKind::forbidden;
}

GrantAuthorizer::Missing take_missing(const Forwarding& forwarding) {
  const auto& authorizer = forwarding.authorizer();
  return authorizer ? authorizer->take_missing() : GrantAuthorizer::Missing{};
}

}  // namespace

Task<std::optional<mcp::Outcome>> GatewayService::sign_in(server::Call& call, Errand& errand,
                                                          UpstreamAttempts& attempts, Forwarding& forwarding,
                                                          Result<Forwarded>& forwarded) {
  const ServedUpstream& upstream = errand.route.upstream;
  if (!is_about_access(forwarded.error())) co_return std::nullopt;
  const auto report = [&] {
    attempts.report(forwarded);
    tell_observer(call, upstream, clock_.now() - errand.began, forwarded);
    (void)log_failure(call, *upstream.upstream, forwarded.error());
  };
  auto missing = take_missing(forwarding);
  const bool asks = sign_ins_ != nullptr && (!missing.scopes.empty() || here().must_sign_in(upstream, call.caller()));
  if (asks) {
    // A person takes a while. Meanwhile the request holds no place at the upstream and does not occupy the circuit.
    report();
    auto answered = co_await sign_ins_->ask(call, {upstream, std::move(missing.scopes), std::move(missing.challenge)});
    if (answered) co_return answered;
    errand.began = clock_.now();
    if (auto admitted = admit(errand.route, attempts, call); !admitted)
      co_return std::unexpected(std::move(admitted.error()));
    forwarded = co_await forwarding.run();
    if (forwarded || !is_about_access(forwarded.error())) co_return std::nullopt;
    missing = take_missing(forwarding);
  }
  // Another reason than the caller's access is of an earlier attempt.
  if (!missing.why || !is_about_access(*missing.why)) co_return std::nullopt;
  report();
  // Unlike the upstream's words, those about the caller's own grant are for the caller.
  co_return std::unexpected(std::move(*missing.why).within(fmt::format("upstream {}", upstream->settings().name)));
}

}  // namespace proteus::gateway
