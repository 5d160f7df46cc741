#include "admin/http/problem.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "json/text.hpp"
#include "net/http_server/response_head.hpp"

namespace proteus::admin {

unsigned problem_status(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::invalid: return 400;
    case ErrorKind::unauthenticated: return 401;
    case ErrorKind::forbidden: return 403;
    case ErrorKind::not_found: return 404;
    case ErrorKind::conflict: return 409;
    case ErrorKind::too_large: return 413;
    case ErrorKind::exhausted:
    case ErrorKind::cancelled: return 503;
    case ErrorKind::timeout: return 504;
    case ErrorKind::unreachable:
    case ErrorKind::interrupted:
    case ErrorKind::protocol:
    case ErrorKind::remote:
    case ErrorKind::unavailable: return 502;
    case ErrorKind::unsupported: return 501;
    case ErrorKind::internal: break;
  }
  return 500;
}

std::string write_problem(unsigned status, const Error& error) {
  std::string type(to_string(error.kind()));
  std::ranges::replace(type, ' ', '-');
  std::string out = fmt::format(R"({{"type":"urn:proteus:problem:{}","title":{},"status":{},"detail":{})", type,
                                json::quote(net::reason_phrase(status)), status, json::quote(error.message()));
  if (error.data().starts_with('[')) out += fmt::format(R"(,"errors":{})", error.data());
  return out + "}";
}

Task<> reply_problem(net::Exchange& exchange, unsigned status, Error error, std::string fields) {
  const std::string body = write_problem(status, error);
  co_await exchange.reply({.status = status, .content_type = "application/problem+json", .prepared = fields}, body);
}

Task<> reply_problem(net::Exchange& exchange, Error error) {
  const unsigned status = problem_status(error);
  return reply_problem(exchange, status, std::move(error), {});
}

Task<> reply_refusal(net::Exchange& exchange, const server::Refusal& refusal) {
  std::string challenge;
  if (!refusal.challenge.empty()) net::append_field(challenge, "WWW-Authenticate", refusal.challenge);
  return reply_problem(exchange, refusal.status, refusal.error, std::move(challenge));
}

}  // namespace proteus::admin
