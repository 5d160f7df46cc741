#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/task.hpp"
#include "client/options.hpp"
#include "client/received.hpp"
#include "mcp/method.hpp"
#include "net/http_client.hpp"

namespace proteus::client {

// The short way to a server that is known to be modern and to speak Streamable HTTP, for requests of which only the
// answer is wanted, and perhaps what is told meanwhile. What is the same each time is written once, and the answer's
// bytes are shared, not copied. Belongs to one thread; the client outlives it.
class Express {
 public:
  Express(net::HttpClient& http, net::Url url, const Options& options);

  // Everything outlives the sending.
  struct Request {
    mcp::Method method;
    std::string_view name;              // where the method has one
    const mcp::Payload& members;        // of `params`, without `_meta`
    std::string_view capabilities;      // a JSON object
    std::string_view meta;              // more members of `_meta`
    std::span<const Header> headers{};  // more headers
    // Where set, log messages are asked for.
    std::optional<mcp::LogLevel> log_level = {};
    // Whether progress is asked for; it has the id of the request for a token.
    bool progress = false;
    std::function<void(const json::Message&)> on_notification = {};
    std::chrono::milliseconds timeout;  // since the last progress; see Options::progress_extension
    net::RequestAbort* abort = nullptr;
  };

  // Nothing where the server would not have the request in a way that the long way may mend: it did not run.
  Task<Result<std::optional<Answer>>> send(Request request);

 private:
  struct Composed;

  void compose(Composed& text, const Request& request);
  Task<Result<std::optional<Answer>>> read(net::ClientResponse response, std::string_view id, const Request& request);
  Task<Result<std::optional<Answer>>> read_events(net::ClientResponse response, std::string_view id,
                                                  const Request& request);
  // Events that are all there already; `owner` keeps them.
  Result<std::optional<Answer>> read_whole(std::string_view events, std::shared_ptr<net::ClientResponse> owner,
                                           std::string_view id, const Request& request) const;
  Result<std::optional<Answer>> judge(Result<Received> received, std::string_view id) const;
  json::ScanLimits limits() const;

  net::HttpClient& http_;
  const net::Url url_;
  const std::chrono::milliseconds connect_timeout_;
  const std::size_t message_bytes_;
  const std::string prepared_;   // headers; empty where they cannot be sent
  const std::string meta_head_;  // up to the capabilities
  const std::string log_level_head_;
  const int progress_extension_;
  std::uint64_t last_id_ = 0;
};

}  // namespace proteus::client
