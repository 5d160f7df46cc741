#pragma once

#include <chrono>
#include <compare>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/secrets/sealing.hpp"
#include "gateway/sign_in/person.hpp"

namespace proteus::gateway {

// What a link to the connect page stands for: who is to connect what. The link reveals nothing of it; the page shows it
// only to that person.
struct Ticket {
  std::string id = {};  // random; also the id of the elicitation
  Person person = {};
  std::string person_name = {};  // for display
  std::string upstream = {};
  std::vector<std::string> scopes = {};  // requested by the upstream in addition to those of the settings
  std::string challenge = {};            // the WWW-Authenticate with which the upstream requested them
  std::string client = {};               // name that the requesting program gives itself
  Clock::Wall connected_at{};            // of the grant that the person had; zero for none
  Clock::Wall until{};
};

// Issues tickets and reads them. A ticket is sealed, single-use, and expires after ten minutes. A person has one open
// ticket per upstream. Thread-safe.
class Tickets {
 public:
  static constexpr std::chrono::minutes kLifetime{10};
  static constexpr std::size_t kMostOpen = 10'000;
  static constexpr std::size_t kMostOfOne = 100;
  static constexpr std::size_t kUsedKept = 10'000;

  // The clock must outlive this object.
  Tickets(SealingKey key, const Clock& clock) : key_(key), clock_(clock) {}

  struct Issued {
    Ticket ticket;
    std::string text;  // as in the link; safe in URLs
  };
  // Returns the ticket that this person has open for the upstream, so that two calls at once lead to the same page. If
  // the upstream wants other scopes, or the person has signed in since, issues a new ticket that replaces it. Fails if
  // too many tickets are open.
  Result<Issued> issue(Ticket ticket);
  // Fails if the ticket is not ours, has expired, was used or was replaced. The error does not say which.
  Result<Ticket> read(std::string_view text) const;
  // Like `read`, also for a ticket that was used, because its person may be signing in, and for one that was replaced.
  Result<Ticket> unseal(std::string_view text) const;
  // Marks the ticket as used. Returns false if it was used before or has expired.
  bool use(const Ticket& ticket);
  std::size_t open() const;

 private:
  using Place = std::pair<Person, std::string>;  // person and upstream
  struct Open {
    std::string id;
    std::vector<std::string> scopes;
    Clock::Wall connected_at;
    std::string text;
    Clock::Wall until;
  };

  void forget_old(Clock::Wall now);

  const SealingKey key_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::map<Place, Open> open_;
  std::map<Person, std::size_t> of_one_;  // number of open tickets of each person; never zero
  std::deque<std::pair<Clock::Wall, Place>> by_time_;
  std::unordered_map<std::string, Clock::Wall> used_;
  std::deque<std::string> used_in_order_;
};

}  // namespace proteus::gateway
