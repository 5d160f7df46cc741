#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "server/core/event_store.hpp"
#include "server/core/outbox.hpp"

namespace proteus::server {

// One stream of a legacy session. Its events are numbered and stored, so that a client that lost its connection gets
// the rest of this stream, and of no other, in order and once. Thread-safe.
class ReplayStream {
 public:
  // The store must outlive the stream. If it is null, no event is kept.
  ReplayStream(EventStreamId id, EventStore* store) : id_(std::move(id)), store_(store) {}
  ~ReplayStream();
  ReplayStream(const ReplayStream&) = delete;
  ReplayStream& operator=(const ReplayStream&) = delete;

  std::uint64_t id() const { return id_.stream; }

  // Sends a message, now or when the client reconnects.
  void push(std::string_view message);
  // Like `push`, but drops the message if an equal one from `push_once` waits for the client to connect. Messages that
  // wait are sent even if the store has dropped them, except for the oldest ones of very many.
  void push_once(std::string_view message);
  // Like `push`, but drops the message if the client has never connected.
  void push_if_opened(std::string_view message);
  // Ends the stream for good: later messages are dropped.
  void finish();
  // Leaves the kept events to another process when the stream is destroyed, instead of deleting them.
  void leave();

  // Whether the stream begins with an event that contains only an id, with which the client can resume.
  enum class Prime : std::uint8_t { no, yes };
  enum class Attach : std::uint8_t { attached, gone };
  // Connects the stream to `outbox`: sends the events after event `after` (absent: after the last event that was ever
  // sent), and then new ones. Closes the previous outbox, because a stream has one connection. Returns `gone` if events
  // after `after` are no longer kept. `place` is held by the connection; see `place()`.
  Task<Attach> attach(std::shared_ptr<Outbox> outbox, std::optional<std::uint64_t> after,
                      std::weak_ptr<void> place = {});
  // Connects a stream that has sent nothing yet.
  void begin(std::shared_ptr<Outbox> outbox, Prime prime);
  // Closes the connection, but not the stream. `retry` is sent to the client as its delay before it reconnects.
  void detach(std::optional<std::chrono::milliseconds> retry);
  bool attached();
  bool finished();
  // Returns the place of the current connection, which the next connection takes over; null if there is none.
  std::shared_ptr<void> place();

 private:
  void push_locked(std::string_view message);
  void keep_waiting(std::string_view message);
  // A reconnecting client that has not caught up yet.
  struct Resumption {
    std::shared_ptr<Outbox> outbox;
    bool exact;                    // the client named an event, and nothing after it may be missing
    std::uint64_t after = 0;       // the last event that the client has, or will never get
    std::uint64_t known = 0;       // the last event when the store was read
    std::uint64_t lost_below = 0;  // events before this one are no longer kept
  };
  enum class Caught : std::uint8_t { up, behind, gone };
  Caught catch_up(Resumption& resumption, const std::vector<KeptEvent>& kept);
  void take_over(std::shared_ptr<Outbox> outbox);
  std::string frame(std::uint64_t number, std::string_view message) const;

  const EventStreamId id_;
  EventStore* const store_;
  std::mutex mutex_;
  std::uint64_t last_ = 0;           // number of the last event; 0 is the priming event, which has no data
  std::uint64_t sent_ = 0;           // the last event that was pushed to a connection
  std::list<KeptEvent> waiting_;     // from `push_once` without a connection, each message once
  std::set<std::string_view> once_;  // views of the messages in `waiting_`
  std::size_t waiting_bytes_ = 0;
  bool finished_ = false;
  bool opened_ = false;  // whether a client has ever connected
  bool left_ = false;
  std::shared_ptr<Outbox> outbox_;
  std::weak_ptr<void> place_;
};

// The id of an event on the wire.
struct EventId {
  std::uint64_t stream = 0;
  std::uint64_t number = 0;
};
std::string write_event_id(EventId id);
std::string write_event(EventId id, std::string_view message);
std::optional<EventId> parse_event_id(std::string_view text);

}  // namespace proteus::server
