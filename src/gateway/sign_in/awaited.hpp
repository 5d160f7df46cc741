#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/tasks/task.hpp"
#include "gateway/sign_in/ticket.hpp"
#include "server/core/cancellation.hpp"
#include "server/core/session_stream.hpp"

namespace proteus::gateway {

// The outcome of a sign-in.
enum class SignInEnd : std::uint8_t { connected, declined, failed };

// The outcomes of sign-ins, by ticket, and who waits for them: calls, and legacy clients that must be notified. An
// outcome is remembered for `kRemembered`, as long as somebody may still ask for it. A sign-in that ended at another
// process is recognized by its grant. Thread-safe.
class AwaitedSignIns {
 public:
  static constexpr std::chrono::minutes kRemembered{25};
  static constexpr std::size_t kMost = 50'000;

  // Returns whether a ticket's person has the grant that the ticket asks for.
  using IsConnected = std::function<bool(const Ticket& ticket)>;

  // The clock must outlive this object. `is_connected` is called on any thread; empty if there is no other process.
  explicit AwaitedSignIns(const Clock& clock, IsConnected is_connected = {})
      : clock_(clock), is_connected_(std::move(is_connected)) {}

  // Waits for the outcome, on the thread of the call. Returns nothing if the sign-in has not ended after `longest` or
  // the call was cancelled.
  Task<std::optional<SignInEnd>> wait(Ticket ticket, server::Cancellation& cancellation,
                                      std::chrono::milliseconds longest);
  // Registers a client of 2025-11-25 that got the elicitation and does not wait. It is notified when the sign-in has
  // ended.
  void tell_later(const Ticket& ticket, std::weak_ptr<server::SessionStream> client);
  // To be called when this person has got a grant: ends the sign-ins that asked for it.
  void connected(std::string_view person);

  void ended(const std::string& ticket, SignInEnd how);
  std::optional<SignInEnd> find(const std::string& ticket) const;

  // Returns true for the first call with this number. False for all others, and if too many numbers are remembered.
  bool claim(const std::string& number);

 private:
  struct Waiting;
  struct Entry {
    std::optional<Ticket> ticket;  // if anybody waits
    std::optional<SignInEnd> end;
    std::vector<std::weak_ptr<Waiting>> waiting;
    std::vector<std::weak_ptr<server::SessionStream>> clients;
  };
  // Called with the mutex held. Returns null if there are too many entries.
  Entry* entry_of(const std::string& ticket);
  void end_if_connected(const Ticket& ticket);
  void forget_old();

  const Clock& clock_;
  const IsConnected is_connected_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  std::deque<std::pair<Clock::Monotonic, std::string>> by_time_;
  std::unordered_map<std::string, Clock::Monotonic> claimed_;
  std::deque<std::string> claimed_by_time_;
};

}  // namespace proteus::gateway
