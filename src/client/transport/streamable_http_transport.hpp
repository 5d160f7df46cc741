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

// What a message is to whoever waits for the answer to a request.
enum class Role : std::uint8_t { answer, notification, request, stray };

Role role_of(const json::Message& message, RequestId id);

// What streamable_http.hpp gives; here for the replies that belong to it.
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

  // Goes on with a stream that ended or broke off before the answer, where the server said how.
  Task<Result<Reply>> resume(std::optional<EventStream>& stream, RequestId id);
  // The answer to `id` where it is here; other messages go to the inbox. `owner` keeps the stream; null where the
  // answer is to have bytes of its own. A long message ends it: that goes into `aside`, to be read in the background.
  Result<PendingReply::Poll> poll(EventStream& stream, RequestId id, const std::shared_ptr<const void>& owner,
                                  OwnedText& aside);
  Task<Result<std::optional<Reply>>> take_aside(OwnedText data, RequestId id);
  // The answer to `id` in a body that is a few messages, each on a line of its own, although it says that it is JSON:
  // some servers write notifications in front of an answer that way. Nothing where it is something else.
  std::optional<Reply> take_lines(std::string_view body, RequestId id) const;

 private:
  bool is_legacy() const { return version_ && mcp::era_of(*version_) == mcp::Era::legacy; }
  // Requests under way keep those that they were sent with.
  using Headers = std::shared_ptr<const std::vector<Header>>;
  void write_session_headers();
  Result<> take_session(const net::ClientResponse& response);
  Task<Result<net::ClientResponse>> get(const StreamPosition& position);
  // Nothing at the end of the stream.
  Task<Result<std::optional<Reply>>> read(EventStream& stream, RequestId id);
  // Whose the bytes of a message are: its own, or those of a stream, which belongs to this thread.
  enum class Bytes : std::uint8_t { own, of_stream };
  // Moves it into `reply` where it is the answer.
  void take(Received& message, Bytes bytes, RequestId id, std::optional<Reply>& reply) const;
  std::chrono::milliseconds pause(const StreamPosition& position) const;

  HttpCaller caller_;
  const Options& options_;
  Inbox& inbox_;
  json::ScanLimits scan_limits_;
  std::optional<mcp::Version> version_;
  std::string session_;
  Headers session_headers_ = std::make_shared<std::vector<Header>>();
  std::string prepared_;  // the same, for requests that are sent at once
  StreamPosition listening_;
};

}  // namespace proteus::client
