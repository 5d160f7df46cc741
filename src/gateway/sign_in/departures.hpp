#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "auth/oauth/authorization.hpp"
#include "base/clock.hpp"
#include "gateway/sign_in/authorizations.hpp"
#include "gateway/sign_in/ticket.hpp"

namespace proteus::gateway {

// A user on the way to an authorization server, and what is needed when they come back.
struct Departure {
  enum class Purpose : std::uint8_t {
    identify,  // to the identity provider, to show who they are
    connect,   // to the upstream's authorization server, after consent
    operate,   // to the identity provider, from the operators' page
  };
  Purpose purpose = Purpose::identify;
  Ticket ticket;
  std::string ticket_text;  // as in the link; for an operator, the path of the page
  std::string browser;      // id of the browser that departed
  std::string from;         // its network
  PlanPointer plan;
  auth::oauth::AuthorizationRequest request;
};

// The users on their way, by `state`. Each can come back once, within ten minutes. For a ticket and a purpose only the
// last departure counts. If there are too many, the oldest from the network with the most departures is forgotten.
// Thread-safe.
class Departures {
 public:
  static constexpr std::chrono::minutes kLifetime{10};
  static constexpr std::size_t kMost = 10'000;

  // The clock must outlive this object.
  explicit Departures(const Clock& clock) : clock_(clock) {}

  void add(Departure departure);
  // Removes and returns the departure if this browser departed. Another browser and a second visit find nothing.
  std::optional<Departure> take(std::string_view state, std::string_view browser);
  std::size_t size() const;

 private:
  struct Entry {
    Departure departure;
    Clock::Monotonic until;
  };
  using TicketPurpose = std::pair<std::string, Departure::Purpose>;

  void forget_old(Clock::Monotonic now);
  void forget_one_of_the_most();
  void erase(const std::string& state);

  const Clock& clock_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> by_state_;
  std::map<TicketPurpose, std::string> states_;              // of the last departure
  std::unordered_map<std::string, std::size_t> by_network_;  // number of departures from each; never zero
  std::set<std::pair<Clock::Monotonic, std::string>> by_time_;
};

}  // namespace proteus::gateway
