#include "gateway/upstreams/upstream_errors.hpp"

#include <fmt/format.h>

#include "base/log/log.hpp"

namespace proteus::gateway {
namespace {

// Returns nothing if the message is our own and about the request.
std::string_view explain(ErrorKind kind, CredentialsOf whose) {
  const bool own = whose == CredentialsOf::caller;
  switch (kind) {
    case ErrorKind::unreachable: return "cannot be reached";
    case ErrorKind::timeout: return "did not answer in time";
    case ErrorKind::interrupted: return "closed the connection before it answered";
    case ErrorKind::protocol: return "sent an invalid answer";
    case ErrorKind::unavailable: return "cannot answer now";
    case ErrorKind::unauthenticated:
      return own ? "does not accept the caller's credentials" : "does not accept the gateway's credentials";
    case ErrorKind::forbidden:
      return own ? "does not allow the caller to make this request" : "does not allow the gateway to make this request";
    case ErrorKind::not_found: return "does not serve MCP at its configured address";
    case ErrorKind::remote: return "refused the request";
    case ErrorKind::conflict:
    case ErrorKind::internal: return "could not be asked";
    case ErrorKind::invalid:
    case ErrorKind::too_large:
    case ErrorKind::exhausted:
    case ErrorKind::unsupported:
    case ErrorKind::cancelled: break;
  }
  return {};
}

bool is_own_answer(const Error& error) { return error.kind() == ErrorKind::remote && error.rpc_code() != 0; }

}  // namespace

Error for_caller(Error error, std::string_view upstream, CredentialsOf whose) {
  if (error.kind() == ErrorKind::cancelled || is_own_answer(error)) return error;
  const std::string_view what = explain(error.kind(), whose);
  if (error.rpc_code() != 0 || what.empty()) return std::move(error).within(fmt::format("upstream {}", upstream));
  std::string message = fmt::format("upstream {} {}", upstream, what);
  if (const auto wait = error.retry_after(); wait.count() > 0)
    fmt::format_to(std::back_inserter(message), "; try again in {} s", wait.count());
  return Error(error.kind(), std::move(message)).with_retry_after(error.retry_after());
}

Error for_caller(Error error, const providers::Upstream& upstream) {
  return for_caller(std::move(error), upstream.settings().name,
                    upstream.is_per_caller() ? CredentialsOf::caller : CredentialsOf::gateway);
}

Error log_failure(server::Call& call, const providers::Upstream& upstream, Error error) {
  if (error.kind() != ErrorKind::cancelled && !is_own_answer(error)) {
    upstream.log().event(log::Level::info, "a request did not get through",
                         {{"request", call.log_id()},
                          {"upstream", upstream.settings().name},
                          {"method", std::string(call.request().method->name)},
                          {"error", log::printable(error.message())}});
  }
  return for_caller(std::move(error), upstream);
}

}  // namespace proteus::gateway
