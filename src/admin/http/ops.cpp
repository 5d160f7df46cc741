#include "admin/http/ops.hpp"

#include <fmt/format.h>

#include "admin/http/problem.hpp"
#include "gateway/observe/metrics.hpp"

namespace proteus::admin {
namespace {

Task<> reply_status(net::Exchange& exchange, unsigned status, std::string_view word, std::string_view more = {}) {
  const std::string body = fmt::format(R"({{"status":"{}"{}}})", word, more);
  co_await exchange.reply(
      {.status = status, .content_type = "application/json", .prepared = "Cache-Control: no-store\r\n"}, body);
}

}  // namespace

std::string_view to_string(Readiness::State state) {
  switch (state) {
    case Readiness::State::starting: return "starting";
    case Readiness::State::ready: return "ready";
    case Readiness::State::draining: return "draining";
  }
  return "starting";
}

Task<> Ops::handle(net::Exchange& exchange, MetricsAccess access) {
  const net::Request& request = exchange.request();
  if (request.method() != "GET" && request.method() != "HEAD") {
    co_return co_await reply_problem(exchange, 405, errors::unsupported("this path takes GET and HEAD"),
                                     "Allow: GET, HEAD\r\n");
  }
  if (request.path() == "/healthz") co_return co_await reply_status(exchange, 200, "ok");
  if (request.path() == "/readyz") {
    const auto state = dependencies_.readiness.state();
    const std::string more = dependencies_.details ? dependencies_.details() : std::string();
    co_return co_await reply_status(exchange, state == Readiness::State::ready ? 200 : 503, to_string(state), more);
  }
  if (access == MetricsAccess::with_secret && !dependencies_.has_secret(request)) {
    co_return co_await reply_problem(exchange,
                                     errors::unauthenticated("metrics need the X-Admin-Secret header on this address"));
  }
  const std::string text = dependencies_.metrics();
  co_await exchange.reply({.status = 200, .content_type = gateway::Metrics::kContentType}, text);
}

}  // namespace proteus::admin
