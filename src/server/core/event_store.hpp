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

#include "base/task.hpp"

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
  std::string request;            // the JSON-RPC id of the request that it answers; empty for none
  std::vector<KeptEvent> events;  // the end of what is kept, with nothing missing in between

  friend bool operator==(const LeftStream&, const LeftStream&) = default;
};

// Where the events of legacy streams are kept for clients that lost their connection: a port, because one process is
// not the only place for them. Thread-safe. What every implementation must do is in event_store_contract.hpp.
//
// It is bounded, per stream and in all, and gives up the oldest events first: of a stream there is always the end, with
// nothing missing in between, or nothing.
class EventStore {
 public:
  virtual ~EventStore() = default;

  // Keeps an event, without waiting. Numbers of a stream grow by one.
  virtual void append(const EventStreamId& stream, std::uint64_t number, std::string_view message) = 0;
  // What is kept of a stream behind an event, in order; this process's own events are seen once they were appended. An
  // unknown stream is an empty one. Fails only where the store itself does.
  virtual Task<Result<std::vector<KeptEvent>>> read_after(EventStreamId stream, std::uint64_t number) = 0;
  // Nobody will come back for this stream.
  virtual void forget(const EventStreamId& stream) = 0;

  // For a store that outlives the process. A stream that answers a request begins; kept without waiting.
  virtual void begin(const EventStreamId& /*stream*/, std::string_view /*request*/) {}
  // This process is done with a stream, and its client may go on with it at another.
  virtual void leave(const EventStreamId& stream) { forget(stream); }
  // What is kept of a stream of a process that has ended; nothing where nothing is.
  virtual Task<Result<std::optional<LeftStream>>> read_left(EventStreamId /*stream*/) { co_return std::nullopt; }
};

// In this process.
class MemoryEventStore final : public EventStore {
 public:
  struct Limits {
    std::size_t events_per_stream = 1000;
    std::size_t bytes_per_stream = std::size_t{4} << 20U;
    std::size_t bytes = std::size_t{256} << 20U;  // in all, give or take what is uneven between shards
  };

  MemoryEventStore() : MemoryEventStore(Limits{}) {}
  explicit MemoryEventStore(Limits limits) : limits_(limits) {}

  // Told of each event that is given up for want of room, under a lock; before anything is appended.
  using OnGivenUp = std::function<void(const EventStreamId& stream, std::uint64_t number)>;
  void set_on_given_up(OnGivenUp on_given_up) { on_given_up_ = std::move(on_given_up); }

  void append(const EventStreamId& stream, std::uint64_t number, std::string_view message) override;
  Task<Result<std::vector<KeptEvent>>> read_after(EventStreamId stream, std::uint64_t number) override;
  void forget(const EventStreamId& stream) override;

  // The same as `read_after`; nothing where the stream is unknown.
  std::optional<std::vector<KeptEvent>> kept_after(const EventStreamId& stream, std::uint64_t number);
  // What its events take, with what goes with each.
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
  // Streams that share a lock and a part of the bound.
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
