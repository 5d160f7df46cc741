#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/clock.hpp"
#include "live/live_keys.hpp"
#include "redis/client.hpp"
#include "server/core/session_records.hpp"

namespace proteus::live {

// Records of sessions in Redis. Each is a text: the holder of the session, in the clear so that Redis itself can
// compare it, and the rest, sealed and bound to the holder. A record that was altered in either part counts as missing.
// So does one whose removal here Redis may not have received.
class RedisSessionRecords final : public server::SessionRecords {
 public:
  struct Options {
    std::chrono::milliseconds expiry = std::chrono::minutes(30);
    // A longer record is stored as that of a session that ends with its process.
    std::size_t bytes = std::size_t{256} << 10U;
    // Removals that are kept until it is known that Redis has received them.
    std::size_t removals = 10'000;
  };
  // The client must outlive the records.
  RedisSessionRecords(redis::Client& client, LiveKeys keys, Options options);

  void put(const std::string& id, const server::SessionRecord& record) override;
  void remove(const std::string& id, const server::SessionRecord::Holder& holder) override;
  void release(const std::string& id, const server::SessionRecord& record) override;
  Task<Result<bool>> hold(std::string id, server::SessionRecord record) override;
  Task<Result<std::optional<server::SessionRecord>>> read(std::string id) override;
  Task<Result<bool>> replace(std::string id, server::SessionRecord::Holder before, server::SessionRecord next) override;

  // Repeats the removals that Redis may not have received. Returns false if it does not answer.
  Task<bool> remove_again();

 private:
  struct Removal {
    server::SessionRecord::Holder holder;
    std::uint64_t connection = 0;  // over which it was sent; 0 if it was not
    Clock::Monotonic at;
  };
  using Removals = std::unordered_map<std::string, Removal>;  // by session

  std::string write(const std::string& key, const server::SessionRecord& record) const;
  bool is_removed(const std::string& id, const server::SessionRecord::Holder* holder) const;
  Removals removals() const;
  void forget(const std::string& id, const Removal& removal);

  redis::Client& client_;
  const LiveKeys keys_;
  const Options options_;
  const std::string expiry_;
  const SystemClock clock_;
  mutable std::mutex mutex_;
  Removals removals_;
};

}  // namespace proteus::live
