#include "gateway/sign_in/departures.hpp"

#include "base/sealing.hpp"

namespace proteus::gateway {

bool Departures::add(Departure departure) {
  const auto now = clock_.now();
  const std::scoped_lock lock(mutex_);
  forget_old(now);
  const TicketPurpose place(departure.ticket.id, departure.purpose);
  if (const auto before = states_.find(place); before != states_.end()) erase(by_state_.find(before->second));
  if (by_time_.size() >= kMost) return false;
  const std::string state = departure.request.state;
  states_[place] = state;
  by_time_.emplace_back(now + kLifetime, state);
  by_state_.insert_or_assign(state, Entry{std::move(departure), now + kLifetime});
  return true;
}

std::optional<Departure> Departures::take(std::string_view state, std::string_view browser) {
  const std::scoped_lock lock(mutex_);
  forget_old(clock_.now());
  const auto found = by_state_.find(std::string(state));
  if (found == by_state_.end()) return std::nullopt;
  // A stranger who has the link cannot end it for the one who left.
  if (!equal_in_constant_time(found->second.departure.browser, browser)) return std::nullopt;
  Departure departure = std::move(found->second.departure);
  states_.erase({departure.ticket.id, departure.purpose});
  by_state_.erase(found);
  return departure;
}

void Departures::erase(std::unordered_map<std::string, Entry>::iterator which) {
  if (which == by_state_.end()) return;
  states_.erase({which->second.departure.ticket.id, which->second.departure.purpose});
  by_state_.erase(which);
}

void Departures::forget_old(Clock::Monotonic now) {
  while (!by_time_.empty() && by_time_.front().first <= now) {
    erase(by_state_.find(by_time_.front().second));
    by_time_.pop_front();
  }
}

std::size_t Departures::size() const {
  const std::scoped_lock lock(mutex_);
  return by_state_.size();
}

}  // namespace proteus::gateway
