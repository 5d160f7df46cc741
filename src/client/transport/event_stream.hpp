#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <proteus/error.hpp>

#include "base/tasks/task.hpp"
#include "client/message/received.hpp"
#include "net/http/sse.hpp"
#include "net/http_client/http_client.hpp"

namespace proteus::client {

// The events of a response of the type text/event-stream. Not movable, because the reader points into it.
class EventStream {
 public:
  // `last_event_id` is that of the stream that this one resumes.
  EventStream(net::ClientResponse response, std::size_t max_event_bytes, std::string last_event_id = {})
      : response_(std::move(response)),
        message_bytes_(max_event_bytes),
        reader_({.line_bytes = max_event_bytes, .event_bytes = max_event_bytes}, std::move(last_event_id)),
        whole_(response_.is_all_here()) {
    reader_.feed({});
  }
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  // Returns the next event, or nothing at the end. The views in the event are valid until the next call.
  Task<Result<std::optional<net::SseEvent>>> next();

  // Like `next`, but does not wait: nothing if no whole event is here; `ended` then says whether the stream is over.
  Result<std::optional<net::SseEvent>> try_next();
  bool ended() const { return ended_; }
  // Whether all events arrived with the head of the response.
  bool is_whole() const { return whole_; }
  // Whether these bytes of an event stay where they are for as long as the stream lives.
  bool keeps(std::string_view data) const;

  // Returns the data of the last event for keeping; long data is not copied.
  OwnedText take_data(std::string_view data) {
    if (auto owner = reader_.take_memory()) return {data, std::move(owner)};
    return OwnedText::copy_of(data);
  }

  // See net::ClientResponse.
  Task<net::Waited> wait() { return response_.wait(); }
  void stop_waiting() { response_.stop_waiting(); }
  void set_deadline(std::chrono::milliseconds from_now) { response_.set_deadline(from_now); }

  const std::string& last_event_id() const { return reader_.last_event_id(); }
  std::optional<std::chrono::milliseconds> retry() const { return reader_.retry(); }

 private:
  Result<> take(const Result<std::string_view>& bytes);

  net::ClientResponse response_;
  const std::size_t message_bytes_;
  net::SseReader reader_;
  const bool whole_;
  std::string_view bytes_;  // the bytes that were read last
  bool ended_ = false;
  std::optional<Error> broken_;
};

// A position in a stream, for resuming the stream on another connection.
struct StreamPosition {
  std::string last_event_id;
  std::optional<std::chrono::milliseconds> retry;

  void take(const EventStream& stream) {
    last_event_id = stream.last_event_id();
    if (stream.retry()) retry = stream.retry();
  }
};

}  // namespace proteus::client
