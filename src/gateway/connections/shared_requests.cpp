#include "gateway/connections/shared_requests.hpp"

#include <utility>

namespace proteus::gateway {

// The coroutine that fetches for all. When it ends, even by an exception, the others are woken.
class SharedRequests::Pilot {
 public:
  Pilot(SharedRequests& shared_requests, std::string key, std::shared_ptr<Flight> flight)
      : shared_requests_(shared_requests), key_(std::move(key)), flight_(std::move(flight)) {}
  ~Pilot() {
    flight_->is_over = true;
    flight_->landed.ring();
    const auto route = shared_requests_.routes_.find(key_);
    if (route == shared_requests_.routes_.end()) return;
    if (route->second.under_way == flight_) route->second.under_way = nullptr;
    if (route->second.next == flight_) route->second.next = nullptr;
    if (!route->second.under_way && !route->second.next) shared_requests_.routes_.erase(route);
  }
  Pilot(const Pilot&) = delete;
  Pilot& operator=(const Pilot&) = delete;

  void depart() {
    Route& route = shared_requests_.routes_[key_];
    if (route.next == flight_) route.next = nullptr;
    route.under_way = flight_;
  }

 private:
  SharedRequests& shared_requests_;
  const std::string key_;
  const std::shared_ptr<Flight> flight_;
};

Task<LivePagePointer> SharedRequests::get(std::string key, std::function<Task<LivePagePointer>()> fetch) {
  for (;;) {
    Route& route = routes_[key];
    if (const auto joined = route.next) {
      while (!joined->is_over)
        co_await joined->landed.wait();
      const bool given_up =
          !joined->page || (joined->page->error && joined->page->error->kind() == ErrorKind::cancelled);
      if (!given_up) co_return joined->page;
      continue;
    }
    const auto before = route.under_way;
    const auto flight = std::make_shared<Flight>(executor_);
    if (before) route.next = flight;
    Pilot pilot(*this, key, flight);
    while (before && !before->is_over)
      co_await before->landed.wait();
    pilot.depart();
    flight->page = co_await fetch();
    co_return flight->page;
  }
}

}  // namespace proteus::gateway
