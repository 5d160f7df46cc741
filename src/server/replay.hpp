#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "server/outbox.hpp"

namespace proteus::server {

// One stream of a legacy session: its events are numbered and kept, within bounds, so that a client that lost
// its connection gets the rest of that stream, and of no other, in order and once. Thread-safe.
class ReplayStream {
 public:
  struct Limits {
    std::size_t events = 1000;
    std::size_t bytes = std::size_t{4} << 20U;
  };

  ReplayStream(std::uint64_t id, Limits limits) : id_(id), limits_(limits) {}

  std::uint64_t id() const { return id_; }

  // A message for the client, now or when it comes back.
  void push(std::string_view message);
  // A message that is dropped if an equal one has not been delivered yet.
  void push_once(std::string_view message);
  // Nothing follows.
  void finish();

  enum class Attach : std::uint8_t { attached, gone };
  // Sends what follows event `after` (none: the last one that was sent at all) to this outbox, and then what
  // comes. The outbox before it is closed: a stream has one connection. `gone`: events in between are no
  // longer kept.
  Attach attach(std::shared_ptr<Outbox> outbox, std::optional<std::uint64_t> after, bool prime);
  // Closes the connection, not the stream.
  void detach(std::optional<std::chrono::milliseconds> retry);
  bool attached();
  bool finished();

 private:
  struct Event {
    std::uint64_t number;
    std::string message;
  };
  void push_locked(std::string_view message);
  std::string frame(const Event& event) const;

  const std::uint64_t id_;
  const Limits limits_;
  std::mutex mutex_;
  std::deque<Event> events_;
  std::size_t bytes_ = 0;
  std::uint64_t last_ = 0;  // 0 is the event that primes a client, which carries nothing
  std::uint64_t sent_ = 0;  // the last event that was given to a connection
  bool finished_ = false;
  std::shared_ptr<Outbox> outbox_;
};

// The id an event has on the wire: which stream, and which event of it.
struct EventId {
  std::uint64_t stream = 0;
  std::uint64_t number = 0;
};
std::string write_event_id(EventId id);
std::optional<EventId> parse_event_id(std::string_view text);

}  // namespace proteus::server
