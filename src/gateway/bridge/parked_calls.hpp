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
#include "base/process_key.hpp"
#include "gateway/bridge/running_call.hpp"
#include "gateway/upstreams/upstreams.hpp"

namespace proteus::gateway {

struct ParkingLimits {
  std::size_t total = 1000;
  std::size_t per_principal = 16;
  std::chrono::milliseconds deadline = std::chrono::minutes(5);
};

// How a parked call was let go.
enum class Unparked : std::uint8_t { resumed, expired, refused, shut_down };
inline constexpr std::array kUnparked = {Unparked::resumed, Unparked::expired, Unparked::refused, Unparked::shut_down};
std::string_view to_string(Unparked how);

// Calls whose client was asked for something and has not come back. Each has a ticket, which is good for once: the one
// who comes with it takes the call. Thread-safe.
class ParkedCalls {
 public:
  // `process` is this one among several that serve as one; empty where it is alone.
  ParkedCalls(ParkingLimits limits, const Clock& clock, ProcessKey process = {})
      : limits_(limits), clock_(clock), process_(std::move(process)) {}

  struct Call {
    std::shared_ptr<RunningCall> running;
    ServedUpstream upstream;
    std::string principal;
  };

  // On the call's thread. Gives the ticket. Where there is no room the call is cancelled. One that nobody comes for
  // within the deadline is cancelled, too.
  Result<std::string> park(Call call);
  static bool is_ticket(std::string_view text);
  // The process that has the call; empty where that is not known.
  static ProcessKey holder_of(std::string_view ticket);
  // On the call's thread, before it is parked: what must survive this process is kept.
  Task<> prepare(const Call& call) const {
    if (prepare_) co_await prepare_(call);
  }
  using Prepare = std::function<Task<>(const Call&)>;
  // Before anything is parked.
  void set_prepare(Prepare prepare) { prepare_ = std::move(prepare); }
  // From any thread. Fails where the ticket was used before, its time is over, or it is of another process.
  Result<Call> take(std::string_view ticket);
  // From any thread. Ends what was taken, at the upstream, too.
  static void cancel(const Call& call);
  // From any thread. Cancels those of one principal.
  void cancel_of(const std::string& principal);
  // Cancels all, and takes no more.
  void close();

  std::size_t size() const;
  // For operators: what waits, without the tickets.
  struct Waiting {
    std::uint64_t number;
    std::string principal;
    std::string upstream;
    Clock::Monotonic since;
  };
  std::vector<Waiting> all() const;
  // From any thread. Cancels one; whose it was, or nothing where it is gone already.
  std::optional<std::string> cancel_one(std::uint64_t number);
  using Observer = std::function<void(Unparked, std::chrono::nanoseconds)>;
  // Told of each end. Before anything is parked.
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
