#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/secrets/process_key.hpp"
#include "gateway/bridge/running_call.hpp"
#include "gateway/upstreams/upstreams.hpp"

namespace proteus::gateway {

struct ParkingLimits {
  std::size_t total = 1000;
  std::size_t per_principal = 16;
  std::chrono::milliseconds deadline = std::chrono::minutes(5);
};

// How the wait of a parked call ended.
enum class Unparked : std::uint8_t { resumed, expired, refused, shut_down };
inline constexpr std::array kUnparked = {Unparked::resumed, Unparked::expired, Unparked::refused, Unparked::shut_down};
std::string_view to_string(Unparked how);

// Calls that wait for a client to return with answers. Each has a single-use ticket: taking the ticket takes the call.
// Thread-safe.
class ParkedCalls {
 public:
  // `process` identifies this process among several that serve as one; empty if there is only one.
  ParkedCalls(ParkingLimits limits, const Clock& clock, ProcessKey process = {})
      : limits_(limits), clock_(clock), process_(std::move(process)) {}

  struct Call {
    std::shared_ptr<RunningCall> running;
    ServedUpstream upstream;
    std::string principal;
  };

  // Stores the call and returns its ticket. Cancels the call and fails if there is no room. Cancels a stored call that
  // is not taken within the deadline. Must be called on the call's thread.
  Result<std::string> park(Call call);
  static bool is_ticket(std::string_view text);
  // Returns the process that has the call of a ticket; empty if unknown.
  static ProcessKey holder_of(std::string_view ticket);
  // Stores what must survive this process. Must be called on the call's thread, before the call is parked.
  Task<> prepare(const Call& call) const {
    if (prepare_) co_await prepare_(call);
  }
  using Prepare = std::function<Task<>(const Call&)>;
  // Must be set before a call is parked.
  void set_prepare(Prepare prepare) { prepare_ = std::move(prepare); }
  // Takes the call of a ticket. Fails if the ticket was used, has expired, or belongs to another process.
  Result<Call> take(std::string_view ticket);
  // Cancels a call that was taken, also at the upstream.
  static void cancel(const Call& call);
  // Cancels the parked call of a ticket, if there still is one.
  void cancel(const std::string& ticket);
  // Cancels all parked calls of a principal.
  void cancel_of(const std::string& principal);
  // Cancels all parked calls and rejects new ones.
  void close();

  std::size_t size() const;
  // A parked call without its ticket, for operators.
  struct Waiting {
    std::uint64_t number;
    std::string principal;
    std::string upstream;
    Clock::Monotonic since;
  };
  std::vector<Waiting> all() const;
  // Cancels the call with this number and returns its principal; nothing if the call is no longer parked.
  std::optional<std::string> cancel_one(std::uint64_t number);
  using Observer = std::function<void(Unparked, std::chrono::nanoseconds)>;
  // Sets the callback for each call that is no longer parked, and for each rejected one. Must be set before a call is
  // parked.
  void set_observer(Observer observer) { observer_ = std::move(observer); }

 private:
  struct Entry {
    Call call;
    Clock::Monotonic since;
    std::uint64_t number;
  };

  std::optional<Call> remove(const std::string& ticket, Unparked how);
  Result<> admit(const std::string& ticket, const Call& call);

  const ParkingLimits limits_;
  const Clock& clock_;
  const ProcessKey process_;
  Observer observer_;
  Prepare prepare_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  std::unordered_map<std::string, std::size_t> by_principal_;
  std::uint64_t last_number_ = 0;
  bool closed_ = false;
};

}  // namespace proteus::gateway
