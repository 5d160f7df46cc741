#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "client/message/transport.hpp"
#include "client/transport/event_stream.hpp"
#include "client/transport/streamable_http_transport.hpp"
#include "net/http_client/http_client.hpp"

namespace proteus::client {

// The reply to a POST: JSON or an event stream. The transport must outlive it.
class PostedReply final : public PendingReply, public std::enable_shared_from_this<PostedReply> {
 public:
  // `begun`: the head of the response has arrived.
  PostedReply(StreamableHttp& transport, net::ClientResponse response, RequestId id, Stay stay, bool begun)
      : transport_(transport), response_(std::move(response)), id_(id), stay_(stay) {
    if (begun) begin();
  }

  // Sets the credentials of a request that was sent at once, and the authorizer that gave them, which must outlive the
  // awaiting of the reply.
  void set_sent(ReadyHeaders::Pointer sent, Authorizer* authorizer) {
    sent_ = std::move(sent);
    authorizer_ = authorizer;
  }

  Result<Poll> poll() override;
  Task<net::Waited> wait() override { return events_ ? events_->wait() : response_.wait(); }
  void stop_waiting() override { events_ ? events_->stop_waiting() : response_.stop_waiting(); }
  void set_deadline(std::chrono::milliseconds from_now) override {
    events_ ? events_->set_deadline(from_now) : response_.set_deadline(from_now);
  }
  bool is_all_here() const override { return events_ && events_->is_whole(); }
  Task<Result<Reply>> finish() override;

 private:
  enum class State : std::uint8_t { sent, json, events, other };

  void begin();
  Result<Poll> poll_json();
  // Parses a long JSON reply, which has arrived completely, in the background.
  Task<Result<Reply>> read_aside();
  Result<Reply> judge(Result<Received> message) const;

  StreamableHttp& transport_;
  net::ClientResponse response_;
  std::optional<EventStream> events_;  // replaces `response_` if the reply is an event stream
  ReadyHeaders::Pointer sent_;
  Authorizer* authorizer_ = nullptr;
  OwnedText aside_;  // the next message, if it must be parsed in the background
  const RequestId id_;
  Stay stay_;
  State state_ = State::sent;
};

}  // namespace proteus::client
