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

// The answer to a POST, JSON or a stream of events. The transport outlives it.
class PostedReply final : public PendingReply, public std::enable_shared_from_this<PostedReply> {
 public:
  // `begun`: the head of the answer is here.
  PostedReply(StreamableHttp& transport, net::ClientResponse response, RequestId id, Stay stay, bool begun)
      : transport_(transport), response_(std::move(response)), id_(id), stay_(stay) {
    if (begun) begin();
  }

  // The credentials that it was sent with, where it was sent at once.
  void set_sent(ReadyHeaders::Pointer sent) { sent_ = std::move(sent); }

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
  // A long answer in JSON, all of which is here.
  Task<Result<Reply>> read_aside();
  Result<Reply> judge(Result<Received> message) const;

  StreamableHttp& transport_;
  net::ClientResponse response_;
  std::optional<EventStream> events_;  // in place of that, where it is a stream of events
  ReadyHeaders::Pointer sent_;
  OwnedText aside_;  // the long one of those that is next
  const RequestId id_;
  Stay stay_;
  State state_ = State::sent;
};

}  // namespace proteus::client
