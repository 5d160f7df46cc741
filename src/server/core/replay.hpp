#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "server/core/event_store.hpp"
#include "server/core/outbox.hpp"

namespace proteus::server {

// One stream of a legacy session: its events are numbered and kept in a store, so that a client that lost its
// connection gets the rest of that stream, and of no other, in order and once. Thread-safe.
class ReplayStream {
 public:
  // The store outlives it; without one nothing is kept.
  ReplayStream(EventStreamId id, EventStore* store) : id_(std::move(id)), store_(store) {}
  ~ReplayStream();
  ReplayStream(const ReplayStream&) = delete;
  ReplayStream& operator=(const ReplayStream&) = delete;

  std::uint64_t id() const { return id_.stream; }

  // A message for the client, now or when it comes back.
  void push(std::string_view message);
  // A message that is dropped if an equal one has not been delivered yet.
  void push_once(std::string_view message);
  // A message for a client that has a connection, or had one and may come back; for any other it is dropped.
  void push_if_opened(std::string_view message);
  // Nothing follows.
  void finish();
  // Its client may go on with it at another process, when this one is done with it.
  void leave();

  // Whether the client is first sent an event that carries nothing but an id, by which it can come back.
  enum class Prime : std::uint8_t { no, yes };
  enum class Attach : std::uint8_t { attached, gone };
  // Sends what follows event `after` (none: the last one that was sent at all) to this outbox, and then what comes. The
  // outbox before it is closed: a stream has one connection. `gone`: events in between are no longer kept. `place` is
  // held by the connection.
  Task<Attach> attach(std::shared_ptr<Outbox> outbox, std::optional<std::uint64_t> after,
                      std::weak_ptr<void> place = {});
  // The same for a stream that has sent nothing yet.
  void begin(std::shared_ptr<Outbox> outbox, Prime prime);
  // Closes the connection, not the stream.
  void detach(std::optional<std::chrono::milliseconds> retry);
  bool attached();
  bool finished();
  // Of the connection there is, for the one that takes over from it; null where there is none.
  std::shared_ptr<void> place();

 private:
  void push_locked(std::string_view message);
  // A client on its way back to the end of the stream.
  struct Resumption {
    std::shared_ptr<Outbox> outbox;
    bool exact;                    // nothing may be missing behind the event it names
    std::uint64_t after = 0;       // the last event it has, or never will have
    std::uint64_t known = 0;       // the last event when the store was asked
    std::uint64_t lost_below = 0;  // events before this one are no longer kept
  };
  enum class Caught : std::uint8_t { up, behind, gone };
  Caught catch_up(Resumption& resumption, const std::vector<KeptEvent>& kept);
  void take_over(std::shared_ptr<Outbox> outbox);
  std::string frame(std::uint64_t number, std::string_view message) const;

  const EventStreamId id_;
  EventStore* const store_;
  std::mutex mutex_;
  std::uint64_t last_ = 0;  // 0 is the event that primes a client, which carries nothing
  std::uint64_t sent_ = 0;  // the last event that was given to a connection
  std::map<std::string, std::uint64_t, std::less<>> waiting_;  // pushed once while there was no connection
  bool finished_ = false;
  bool opened_ = false;  // ever
  bool left_ = false;
  std::shared_ptr<Outbox> outbox_;
  std::weak_ptr<void> place_;
};

// The id an event has on the wire: which stream, and which event of it.
struct EventId {
  std::uint64_t stream = 0;
  std::uint64_t number = 0;
};
std::string write_event_id(EventId id);
std::string write_event(EventId id, std::string_view message);
std::optional<EventId> parse_event_id(std::string_view text);

}  // namespace proteus::server
