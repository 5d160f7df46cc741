#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "live/live_keys.hpp"
#include "redis/client.hpp"
#include "server/core/event_store.hpp"

namespace proteus::live {

// Keeps the events of this process in memory, and a sealed copy in Redis for a process that continues a session after
// this one has ended. The clients of this process resume from memory, with or without Redis. While Redis is connected,
// events that memory drops are deleted from the copy, too. A copy expires after its last event.
//
// While Redis is away, nothing is copied. A stream is copied again, as a whole, with its next event after Redis is
// back, or soon after Redis has refused something, such as for lack of memory.
class RedisEventStore final : public server::EventStore {
 public:
  struct Options {
    server::MemoryEventStore::Limits limits = {};
    std::chrono::milliseconds expiry = std::chrono::minutes(30);
  };
  // The client must outlive the store.
  RedisEventStore(redis::Client& client, LiveKeys keys, Options options);

  void append(const server::EventStreamId& stream, std::uint64_t number, std::string_view message) override;
  Task<Result<std::vector<server::KeptEvent>>> read_after(server::EventStreamId stream, std::uint64_t number) override;
  void forget(const server::EventStreamId& stream) override;
  void begin(const server::EventStreamId& stream, std::string_view request) override;
  void leave(const server::EventStreamId& stream) override;
  // Events that cannot be opened were not written by a process with this pepper: they count as missing.
  Task<Result<std::optional<server::LeftStream>>> read_left(server::EventStreamId stream) override;

 private:
  // The state of the copy of a stream.
  struct Copy {
    std::string key;
    std::string request;           // as in `begin`
    std::uint64_t connection = 0;  // connection to Redis over which all of it was sent; 0 for none
    std::uint64_t refused = 0;     // commands that Redis had refused when all of it was sent
    // If a connection accepts nothing more, a stream is not sent as a whole with each of its events: the more often
    // that failed, the more events are skipped before the next attempt.
    std::uint64_t failed = 0;  // connection over which it could not be sent
    unsigned left_out = 0;     // events to skip after the last failure
    unsigned still = 0;        // how many of these are still to come

    void fail(std::uint64_t over);
    bool waits(std::uint64_t over);
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::string, Copy> copies;  // by session and stream
  };
  static std::string name_of(const server::EventStreamId& stream);
  Shard& shard_of(const std::string& name) { return shards_[std::hash<std::string>{}(name) % shards_.size()]; }

  enum class Then : std::uint8_t { keep, remove };
  void let_go(const server::EventStreamId& stream, Then then);
  // What happens to events that were copied before: memory may have dropped some while Redis was away.
  enum class Before : std::uint8_t { keep, remove };
  bool send(const Copy& copy, const std::vector<server::KeptEvent>& events, Before before);
  void give_up(const server::EventStreamId& stream, std::uint64_t number);
  bool fits(std::string_view message) const { return message.size() < options_.limits.bytes_per_stream; }

  redis::Client& client_;
  const LiveKeys keys_;
  const Options options_;
  const std::string expiry_;
  server::MemoryEventStore memory_;
  std::array<Shard, 8> shards_;
};

}  // namespace proteus::live
