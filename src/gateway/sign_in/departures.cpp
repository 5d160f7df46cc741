#include "gateway/sign_in/departures.hpp"

#include <algorithm>

#include "base/secrets/sealing.hpp"

namespace proteus::gateway {

void Departures::add(Departure departure) {
  const auto now = clock_.now();
  const std::scoped_lock lock(mutex_);
  forget_old(now);
  const TicketPurpose place(departure.ticket.id, departure.purpose);
  if (const auto before = states_.find(place); before != states_.end()) erase(std::string(before->second));
  if (by_state_.size() >= kMost) forget_one_of_the_most();
  const std::string state = departure.request.state;
  states_[place] = state;
  ++by_network_[departure.from];
  by_time_.emplace(now + kLifetime, state);
  by_state_.insert_or_assign(state, Entry{std::move(departure), now + kLifetime});
}

std::optional<Departure> Departures::take(std::string_view state, std::string_view browser) {
  const std::scoped_lock lock(mutex_);
  forget_old(clock_.now());
  const auto found = by_state_.find(std::string(state));
  if (found == by_state_.end()) return std::nullopt;
  // Keeps the entry: somebody else who has the URL must not end the sign-in of the browser that departed.
  if (!equal_in_constant_time(found->second.departure.browser, browser)) return std::nullopt;
  Departure departure = found->second.departure;
  erase(std::string(state));
  return departure;
}

void Departures::erase(const std::string& state) {
  const auto which = by_state_.find(state);
  if (which == by_state_.end()) return;
  states_.erase({which->second.departure.ticket.id, which->second.departure.purpose});
  by_time_.erase({which->second.until, state});
  if (const auto count = by_network_.find(which->second.departure.from); --count->second == 0) by_network_.erase(count);
  by_state_.erase(which);
}

void Departures::forget_one_of_the_most() {
  const auto most = std::ranges::max_element(by_network_, {}, [](const auto& count) { return count.second; });
  const auto oldest = std::ranges::find_if(
      by_time_, [&](const auto& each) { return by_state_.at(each.second).departure.from == most->first; });
  erase(std::string(oldest->second));
}

void Departures::forget_old(Clock::Monotonic now) {
  while (!by_time_.empty() && by_time_.begin()->first <= now)
    erase(std::string(by_time_.begin()->second));
}

std::size_t Departures::size() const {
  const std::scoped_lock lock(mutex_);
  return by_state_.size();
}

}  // namespace proteus::gateway
