#pragma once

#include <optional>

#include "mcp/jsonrpc.hpp"
#include "server/http_answer.hpp"
#include "server/http_endpoint.hpp"

namespace proteus::server {

class ModernRound;

// One stateless request over HTTP (2026-07-28). `message` and `caller` must outlive it.
class ModernHttp {
 public:
  ModernHttp(HttpEndpoint& endpoint, net::Exchange& exchange, json::Message& message, const Caller& caller);

  // The answer, where it can be had without waiting. Otherwise `go_on` gives it.
  std::optional<HttpAnswer> answer();
  Task<> go_on();

 private:
  Task<> listen();
  Task<> call();
  std::optional<HttpAnswer> call_at_once();
  // With what was sent in front of it.
  HttpAnswer whole_answer(const ModernRound& round, mcp::Outcome& outcome, std::string frames) const;
  HttpAnswer refuse(const Error& error) const;
  mcp::ResultStyle style() const { return endpoint_.service_.modern_style(); }

  HttpEndpoint& endpoint_;
  net::Exchange& exchange_;
  json::Message& message_;
  const Caller& caller_;
  const mcp::HeaderLookup headers_;
  mcp::Request request_;
};

}  // namespace proteus::server
