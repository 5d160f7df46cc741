#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/message/options.hpp"
#include "client/message/transport.hpp"
#include "client/transport/event_stream.hpp"
#include "client/transport/http_caller.hpp"
#include "json/message.hpp"
#include "net/http/url.hpp"
#include "net/http_client/http_client.hpp"

namespace proteus::client {

inline bool is_success(const net::ClientResponse& response) {
  return response.status() >= 200 && response.status() < 300;
}

// What a message means to the coroutine that waits for the answer to a request.
enum class Role : std::uint8_t { answer, notification, request, stray };

Role role_of(const json::Message& message, RequestId id);

// Reads a body that claims to be JSON, but is a few messages with a line each, one of which answers `id`: some servers
// write notifications before an answer in this way. Returns nothing if the body is anything else.
std::optional<std::vector<Received>> scan_lines(std::string_view body, const json::ScanLimits& limits, RequestId id);

// The transport that streamable_http.hpp makes. Declared here for the transport's replies.
class StreamableHttp final : public Transport {
 public:
  StreamableHttp(net::HttpClient& http, net::Url url, const Options& options, Inbox& inbox)
      : caller_(http, std::move(url), options), options_(options), inbox_(inbox) {
    scan_limits_.bytes = options.limits.message_bytes;
  }

  Task<Result<>> start() override { co_return Result<>{}; }
  bool usable() const override { return true; }
  bool has_headers() const override { return true; }
  bool has_streams() const override { return true; }
  std::string_view session() const override { return session_; }
  bool keeps_session() const override { return has_session(); }
  void speak(mcp::Version version) override {
    version_ = version;
    write_session_headers();
  }
  void forget_session() override {
    session_.clear();
    version_.reset();
    listening_ = {};
    write_session_headers();
  }

  bool resume_session(const HttpSession& session) override {
    session_ = session.id;
    speak(session.version);
    return true;
  }

  Task<Result<Reply>> exchange(const Outgoing& request) override;
  std::shared_ptr<PendingReply> try_exchange(const Outgoing& request, std::chrono::milliseconds time,
                                             Stay stay) override;
  Task<Result<>> send(const Outgoing& message) override;
  Task<Result<>> listen(std::function<void()> on_open) override;
  Task<> close() override;

  const Options& options() const { return options_; }
  const json::ScanLimits& scan_limits() const { return scan_limits_; }

  // Reads a stream up to the answer. If it ends or breaks before that, resumes it, provided that the server said how.
  Task<Result<Reply>> resume(std::optional<EventStream>& stream, RequestId id);
  // Returns the answer to `id` if it has arrived; other messages go to the inbox. The answer shares the bytes of the
  // stream, which `owner` keeps; if `owner` is null, it has its own bytes. Stops at a long message and moves it into
  // `aside`, to be parsed in the background.
  Result<PendingReply::Poll> poll(EventStream& stream, RequestId id, const std::shared_ptr<const void>& owner,
                                  OwnedText& aside);
  Task<Result<std::optional<Reply>>> take_aside(OwnedText data, RequestId id);
  // Passes the messages to the inbox, and returns the answer to `id` among them.
  std::optional<Reply> take_all(std::vector<Received> messages, RequestId id) const;

 private:
  bool is_legacy() const { return version_ && mcp::era_of(*version_) == mcp::Era::legacy; }
  // Shared, because a request under way keeps the headers that it was sent with.
  using Headers = std::shared_ptr<const std::vector<Header>>;
  void write_session_headers();
  Result<> take_session(const net::ClientResponse& response);
  Task<Result<net::ClientResponse>> get(const StreamPosition& position);
  // Returns nothing at the end of the stream.
  Task<Result<std::optional<Reply>>> read(EventStream& stream, RequestId id);
  // Who owns the bytes of a message: the message itself, or a stream, which belongs to this thread.
  enum class Bytes : std::uint8_t { own, of_stream };
  // Passes the message to the inbox, or moves it into `reply` if it is the answer.
  void take(Received& message, Bytes bytes, RequestId id, std::optional<Reply>& reply) const;
  std::chrono::milliseconds pause(const StreamPosition& position) const;

  HttpCaller caller_;
  const Options& options_;
  Inbox& inbox_;
  json::ScanLimits scan_limits_;
  std::optional<mcp::Version> version_;
  std::string session_;
  Headers session_headers_ = std::make_shared<std::vector<Header>>();
  std::string prepared_;  // the fields of the session and of every POST, for `try_exchange`
  StreamPosition listening_;
};

}  // namespace proteus::client
