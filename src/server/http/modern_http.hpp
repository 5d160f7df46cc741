#pragma once

#include <memory>
#include <optional>

#include "mcp/jsonrpc.hpp"
#include "server/core/modern_answer.hpp"
#include "server/http/http_answer.hpp"
#include "server/http/http_endpoint.hpp"
#include "server/http/modern_channel.hpp"

namespace proteus::server {

// One stateless request over HTTP (2026-07-28). `message` and `caller` must outlive it.
class ModernHttp {
 public:
  ModernHttp(HttpEndpoint& endpoint, net::Exchange& exchange, json::Message& message, const Caller& caller, Via via);

  // The answer, where it can be had without waiting. Otherwise `go_on` gives it.
  std::optional<HttpAnswer> answer();
  // Whether what is asked for is a stream that stays open.
  bool listens() const { return request_.method != nullptr && request_.method->method == mcp::Method::listen; }
  Task<> go_on();

  // Such a stream, which needs nothing of the request any more.
  class OpenStream {
   public:
    virtual ~OpenStream() = default;
    // Until it ends.
    virtual Task<> run() = 0;
  };
  // Null where it was refused, and answered so.
  Task<std::unique_ptr<OpenStream>> open_stream();

 private:
  // One that the service answers.
  struct Calling {
    explicit Calling(const ModernHttp& http);

    ModernChannel channel;
    Call call;
    ModernRound round;
    std::optional<mcp::Outcome> outcome = {};
  };

  // Opens the state that it came with, and finds who has what it goes on with.
  Result<void> open_round();
  Task<> refuse_stream(unsigned status, Error error);
  std::optional<HttpAnswer> call_at_once();
  // Binds long arguments to the state of the call, on a thread of the background.
  Task<> bind_aside();
  // The outcome, with what was sent in front of it.
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
  ProcessKey elsewhere_;  // who alone can go on with it, where that is another process
};

}  // namespace proteus::server
