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
#include "base/sealing.hpp"
#include "gateway/sign_in/person.hpp"

namespace proteus::gateway {

// What a link to the connect page stands for: who is to connect what. It says nothing to whoever opens it; the page
// shows it only to that person.
struct Ticket {
  std::string id = {};  // random; also names the elicitation
  Person person = {};
  std::string person_name = {};  // for people
  std::string upstream = {};
  std::vector<std::string> scopes = {};  // that the upstream wants besides those of the settings
  std::string challenge = {};            // the WWW-Authenticate by which it said so
  std::string client = {};               // the program that asked, as it calls itself
  Clock::Wall until{};
};

// Makes tickets and reads them. They are sealed, live ten minutes and are used once; a person has one open for each
// upstream. Thread-safe.
class Tickets {
 public:
  static constexpr std::chrono::minutes kLifetime{10};
  static constexpr std::size_t kMostOpen = 10'000;
  static constexpr std::size_t kMostOfOne = 100;
  static constexpr std::size_t kUsedKept = 10'000;

  // The clock outlives it.
  Tickets(SealingKey key, const Clock& clock) : key_(key), clock_(clock) {}

  struct Issued {
    Ticket ticket;
    std::string text;  // as it is in the link: URL-safe
  };
  // The one that this person has open for the upstream; another where the upstream wants other scopes, which replaces
  // it. Whoever calls twice at once is sent to the same page. Fails where too many are open.
  Result<Issued> issue(Ticket ticket);
  // Fails where it is not ours, too old, used, or replaced. Says nothing about which to whoever has no right to know.
  Result<Ticket> read(std::string_view text) const;
  // Whether it is ours and not too old. It may be used: its person is signing in.
  bool lives(std::string_view text) const { return unseal(text).has_value(); }
  // False where somebody was faster.
  bool use(const Ticket& ticket);
  std::size_t open() const;

 private:
  using Place = std::pair<Person, std::string>;  // and the upstream
  struct Open {
    std::string id;
    std::vector<std::string> scopes;
    std::string text;
    Clock::Wall until;
  };

  // Whether it was used is not looked at.
  Result<Ticket> unseal(std::string_view text) const;
  void forget_old(Clock::Wall now);

  const SealingKey key_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::map<Place, Open> open_;
  std::map<Person, std::size_t> of_one_;  // how many each has open; none is zero
  std::deque<std::pair<Clock::Wall, Place>> by_time_;
  std::unordered_map<std::string, Clock::Wall> used_;
  std::deque<std::string> used_in_order_;
};

}  // namespace proteus::gateway
