#pragma once

#include <memory>
#include <optional>

#include "mcp/jsonrpc.hpp"
#include "server/core/modern_answer.hpp"
#include "server/http/http_answer.hpp"
#include "server/http/http_endpoint.hpp"
#include "server/http/modern_channel.hpp"

namespace proteus::server {

// One stateless request over HTTP (2026-07-28). Everything given must outlive it.
class ModernHttp {
 public:
  ModernHttp(HttpEndpoint& endpoint, net::Exchange& exchange, json::Message& message, const Caller& caller, Via via);

  // Returns the answer if that requires no waiting. Otherwise `go_on` must be awaited, or `open_stream` if `listens`.
  std::optional<HttpAnswer> answer();
  // Whether the request opens a listen stream.
  bool listens() const { return request_.method != nullptr && request_.method->method == mcp::Method::listen; }
  Task<> go_on();

  // An open listen stream. Does not need the ModernHttp any more.
  class OpenStream {
   public:
    virtual ~OpenStream() = default;
    // Completes when the stream has ended.
    virtual Task<> run() = 0;
  };
  // Returns null if the stream was rejected; the client has been answered then.
  Task<std::unique_ptr<OpenStream>> open_stream();

 private:
  // A call that the service answers.
  struct Calling {
    explicit Calling(const ModernHttp& http);

    ModernChannel channel;
    Call call;
    ModernRound round;
    std::optional<mcp::Outcome> outcome = {};
  };

  // Opens the state of the request, and finds the process that must continue it.
  Result<void> open_round();
  Task<> refuse_stream(unsigned status, Error error);
  std::optional<HttpAnswer> call_at_once();
  // Computes the digest of long arguments on a background thread.
  Task<> bind_aside();
  // Returns the outcome, after the messages that were sent before it.
  HttpAnswer whole_answer();
  HttpAnswer refuse(const Error& error) const;
  mcp::ResultStyle style() const { return endpoint_.service_.modern_style(); }

  HttpEndpoint& endpoint_;
  net::Exchange& exchange_;
  json::Message& message_;
  const Caller& caller_;
  const Via via_;
  const mcp::HeaderLookup headers_;
  mcp::Request request_;
  std::optional<Calling> calling_;
  ProcessKey elsewhere_;  // the other process that must continue the request; empty for none
};

}  // namespace proteus::server
