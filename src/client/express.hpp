#pragma once

#include <chrono>
#include <cstdint>
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

  // Everything outlives the sending, unless that is said to need less.
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
    // `answered`: the answer has come together with it.
    std::function<void(const json::Message&, bool answered)> on_notification = {};
    std::chrono::milliseconds timeout;  // since the last progress; see Options::progress_extension
    net::RequestAbort* abort = nullptr;
  };

  // One that was sent at once: whoever sent it looks for the answer, and waits where there is none yet.
  struct Sent {
    std::shared_ptr<net::ClientResponse> response;
    std::uint64_t id;
    bool begun = false;    // the head of the answer is here
    bool is_long = false;  // all of it is, and is to be read in the background
  };
  // Nothing where it has to be waited for a connection; nothing was sent then. Of the request only what `look` and
  // `rest` need must live on: not the members, nor the capabilities, `_meta` and headers.
  std::optional<Sent> try_send(const Request& request);
  // What can be told without waiting. With an answer, nothing is left to be asked of what was sent.
  struct Sight {
    std::optional<Answer> answer = {};
    bool waits = false;  // without an answer: whether one may come by and by, or only `rest` can tell
  };
  Result<Sight> look(Sent& sent, const Request& request) const;

  // Nothing where the server would not have the request in a way that the long way may mend: it did not run.
  Task<Result<std::optional<Answer>>> rest(Sent sent, const Request& request);
  Task<Result<std::optional<Answer>>> send(const Request& request);

 private:
  struct Composed;

  void compose(Composed& text, const Request& request);
  net::ClientRequest posted(const Composed& text, const Request& request) const;
  Result<Sight> look_at_body(Sent& sent, bool events, const Request& request) const;
  Task<Result<std::optional<Answer>>> read_events(net::ClientResponse response, std::uint64_t id,
                                                  const Request& request) const;
  Task<Result<std::optional<Answer>>> read_aside(Sent sent) const;
  // Events that are all there already, and few; `owner` keeps them.
  Result<Answer> read_whole(std::string_view events, const std::shared_ptr<const void>& owner, std::uint64_t id,
                            const Request& request) const;
  static Result<Answer> judge(Result<Received> received, std::uint64_t id);
  json::ScanLimits limits() const;

  net::HttpClient& http_;
  const net::Url url_;
  const std::chrono::milliseconds connect_timeout_;
  const std::size_t message_bytes_;
  const std::string prepared_;   // headers; empty where they cannot be sent
  const std::string meta_head_;  // up to the capabilities
  const std::string log_level_head_;
  const int progress_extension_;
  BackgroundThreads* const background_;
  std::uint64_t last_id_ = 0;
};

}  // namespace proteus::client
