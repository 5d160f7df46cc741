#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "server/core/cancellation.hpp"
#include "server/core/session_stream.hpp"

namespace proteus::gateway {

// What a sign-in came to.
enum class SignInEnd : std::uint8_t { connected, declined, failed };

// Calls that wait for a sign-in, by the id of its ticket, and clients that want to hear of it. What it came to is
// remembered for as long as somebody may still ask. Thread-safe.
class AwaitedSignIns {
 public:
  static constexpr std::chrono::minutes kRemembered{25};
  static constexpr std::size_t kMost = 50'000;

  // The clock outlives it.
  explicit AwaitedSignIns(const Clock& clock) : clock_(clock) {}

  // On the thread of the call. Nothing where it has not ended in time, or the call is not wanted any more.
  Task<std::optional<SignInEnd>> wait(std::string ticket, server::Cancellation& cancellation,
                                      std::chrono::milliseconds longest);
  // A client of 2025-11-25 that was told of the elicitation and does not wait.
  void tell_later(const std::string& ticket, std::weak_ptr<server::SessionStream> client);

  void ended(const std::string& ticket, SignInEnd how);
  std::optional<SignInEnd> find(const std::string& ticket) const;

  // Whether this is the first time that a call with this number goes on. What is asked for too late is not.
  bool claim(const std::string& number);

 private:
  struct Waiting;
  struct Entry {
    std::optional<SignInEnd> end;
    std::vector<std::weak_ptr<Waiting>> waiting;
    std::vector<std::weak_ptr<server::SessionStream>> clients;
  };
  // Under the lock; null where there are too many.
  Entry* entry_of(const std::string& ticket);
  void forget_old();

  const Clock& clock_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  std::deque<std::pair<Clock::Monotonic, std::string>> by_time_;
  std::unordered_map<std::string, Clock::Monotonic> claimed_;
  std::deque<std::string> claimed_by_time_;
};

}  // namespace proteus::gateway
