#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "auth/oauth/authorization.hpp"
#include "base/clock.hpp"
#include "gateway/sign_in/authorizations.hpp"
#include "gateway/sign_in/ticket.hpp"

namespace proteus::gateway {

// Somebody on the way to an authorization server, and what is needed when they come back.
struct Departure {
  enum class Purpose : std::uint8_t {
    identify,  // to their identity provider: to show who they are
    connect,   // to the upstream's server, after they have consented
    operate,   // to their identity provider, from the page for operators
  };
  Purpose purpose = Purpose::identify;
  Ticket ticket;
  std::string ticket_text;  // as it is in the link; of an operator, the path of the page
  std::string browser;      // that they went with
  PlanPointer plan;
  auth::oauth::AuthorizationRequest request;
};

// Those who are on their way, by `state`. Each comes back once, within ten minutes; of one ticket and purpose the last
// one counts. Thread-safe.
class Departures {
 public:
  static constexpr std::chrono::minutes kLifetime{10};
  static constexpr std::size_t kMost = 10'000;

  // The clock outlives it.
  explicit Departures(const Clock& clock) : clock_(clock) {}

  // False where too many are on their way.
  bool add(Departure departure);
  // Takes it where it was this browser that left, so that neither another browser nor a second visit finds it.
  std::optional<Departure> take(std::string_view state, std::string_view browser);
  std::size_t size() const;

 private:
  struct Entry {
    Departure departure;
    Clock::Monotonic until;
  };
  using TicketPurpose = std::pair<std::string, Departure::Purpose>;

  void forget_old(Clock::Monotonic now);
  void erase(std::unordered_map<std::string, Entry>::iterator which);

  const Clock& clock_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> by_state_;
  std::map<TicketPurpose, std::string> states_;  // of the last one
  std::deque<std::pair<Clock::Monotonic, std::string>> by_time_;
};

}  // namespace proteus::gateway
