#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <proteus/error.hpp>

#include "base/tasks/task.hpp"

namespace proteus::server {

// One stream of one legacy session.
struct EventStreamId {
  std::string session;
  std::uint64_t stream = 0;

  friend bool operator==(const EventStreamId&, const EventStreamId&) = default;
};

struct KeptEvent {
  std::uint64_t number = 0;
  std::string message;

  friend bool operator==(const KeptEvent&, const KeptEvent&) = default;
};

// What a process left of a stream when it ended.
struct LeftStream {
  std::string request;            // JSON-RPC ids of the requests that it answers, one per line
  std::vector<KeptEvent> events;  // the last events, without gaps

  friend bool operator==(const LeftStream&, const LeftStream&) = default;
};

// Port to the events of legacy streams, kept for clients that lose their connection, in this process or also outside of
// it. Thread-safe. event_store_contract.hpp tests what every implementation must do.
//
// A store is bounded, per stream and in total, and drops the oldest events first. What remains of a stream is always
// its last events, without gaps.
class EventStore {
 public:
  virtual ~EventStore() = default;

  // Stores an event without waiting. The numbers of the events of a stream increase by one.
  virtual void append(const EventStreamId& stream, std::uint64_t number, std::string_view message) = 0;
  // Returns the kept events of a stream after the event `number`, in order. Events of this process are included once
  // they were appended. An unknown stream has no events. Fails only if the store itself fails.
  virtual Task<Result<std::vector<KeptEvent>>> read_after(EventStreamId stream, std::uint64_t number) = 0;
  // Deletes a stream that no client will resume.
  virtual void forget(const EventStreamId& stream) = 0;

  // Stores without waiting that a stream begins, which answers `request`: JSON-RPC ids, one per line. For stores that
  // outlive the process.
  virtual void begin(const EventStreamId& /*stream*/, std::string_view /*request*/) {}
  // Releases a stream of this process that its client may resume at another process.
  virtual void leave(const EventStreamId& stream) { forget(stream); }
  // Returns what is kept of the stream of a process that has ended; nothing if nothing is kept.
  virtual Task<Result<std::optional<LeftStream>>> read_left(EventStreamId /*stream*/) { co_return std::nullopt; }
};

// Keeps events in the memory of this process.
class MemoryEventStore final : public EventStore {
 public:
  struct Limits {
    std::size_t events_per_stream = 1000;
    std::size_t bytes_per_stream = std::size_t{4} << 20U;
    std::size_t bytes = std::size_t{256} << 20U;  // in total; each shard may use an equal part
  };

  MemoryEventStore() : MemoryEventStore(Limits{}) {}
  explicit MemoryEventStore(Limits limits) : limits_(limits) {}

  // Called under a lock for each event that is dropped to stay within the limits. Must be set before the first
  // `append`.
  using OnGivenUp = std::function<void(const EventStreamId& stream, std::uint64_t number)>;
  void set_on_given_up(OnGivenUp on_given_up) { on_given_up_ = std::move(on_given_up); }

  void append(const EventStreamId& stream, std::uint64_t number, std::string_view message) override;
  Task<Result<std::vector<KeptEvent>>> read_after(EventStreamId stream, std::uint64_t number) override;
  void forget(const EventStreamId& stream) override;

  // Like `read_after`, without a coroutine. Returns nothing if the stream is unknown.
  std::optional<std::vector<KeptEvent>> kept_after(const EventStreamId& stream, std::uint64_t number);
  // Returns how much memory the events take, including an estimate of the overhead.
  std::size_t bytes() const;

 private:
  struct Hash {
    std::size_t operator()(const EventStreamId& id) const;
  };
  struct Stream;
  struct Event {
    Stream* stream;
    KeptEvent event;
  };
  using ByAge = std::list<Event>;  // the oldest first
  struct Stream {
    const EventStreamId* id = nullptr;
    std::deque<ByAge::iterator> events;
    std::size_t bytes = 0;
  };
  // Streams that share a lock and a part of the total limit.
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<EventStreamId, Stream, Hash> streams;
    ByAge by_age;
    std::size_t bytes = 0;

    void drop_oldest(Stream& stream);
  };
  void give_up_oldest(Shard& home, Stream& stream);
  Shard& shard_of(const EventStreamId& stream) { return shards_[Hash{}(stream) % shards_.size()]; }

  const Limits limits_;
  OnGivenUp on_given_up_;
  std::array<Shard, 8> shards_;
};

}  // namespace proteus::server
