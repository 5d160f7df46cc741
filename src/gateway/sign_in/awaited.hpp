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
// process is recognized by its grant. No person can use up the room of the others. Thread-safe.
class AwaitedSignIns {
 public:
  static constexpr std::chrono::minutes kRemembered{25};
  static constexpr std::size_t kMost = 50'000;
  static constexpr std::size_t kMostOfOne = 1000;  // sign-ins, and calls that went on, of one person

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

  void ended(const Ticket& ticket, SignInEnd how);
  std::optional<SignInEnd> find(const std::string& ticket) const;

  // Whether a call may go on after the sign-in: the first one with its number may.
  enum class Claim : std::uint8_t { first, again, full };
  // Returns `full` if too many numbers are remembered, of this caller or of all.
  Claim claim(const std::string& number, const std::string& caller);

 private:
  struct Waiting;
  struct Entry {
    std::string person;            // the key of the ticket's
    std::optional<Ticket> ticket;  // if anybody waits
    std::optional<SignInEnd> end;
    std::vector<std::weak_ptr<Waiting>> waiting;
    std::vector<std::weak_ptr<server::SessionStream>> clients;
  };
  struct Claimed {
    std::string caller;
    Clock::Monotonic until;
  };
  using ByPerson = std::unordered_map<std::string, std::size_t>;  // how many are remembered of each; never zero

  static bool is_full(std::size_t all, const ByPerson& by_person, const std::string& person);
  static void forget_one(ByPerson& by_person, const std::string& person);
  // Called with the mutex held. Returns null if there are too many entries, of this person or of all.
  Entry* entry_of(const Ticket& ticket);
  void end_if_connected(const Ticket& ticket);
  void forget_old();

  const Clock& clock_;
  const IsConnected is_connected_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  std::deque<std::pair<Clock::Monotonic, std::string>> by_time_;
  ByPerson entries_by_person_;
  std::unordered_map<std::string, Claimed> claimed_;
  std::deque<std::string> claimed_by_time_;
  ByPerson claimed_by_person_;
};

}  // namespace proteus::gateway
