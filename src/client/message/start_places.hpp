#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "base/tasks/task.hpp"

namespace proteus::client {

// Limits how many programs start at a time, so that they do not slow each other down until probes time out. Waiters
// enter in the order of arrival. Thread-safe. Places and waiters share ownership.
class StartPlaces : public std::enable_shared_from_this<StartPlaces> {
 public:
  explicit StartPlaces(std::size_t places) : free_(places) {}
  StartPlaces(const StartPlaces&) = delete;
  StartPlaces& operator=(const StartPlaces&) = delete;

  // A place, held while a program starts. Leaving or destroying it lets the next waiter enter. May be empty.
  class Place {
   public:
    Place() = default;
    explicit Place(std::shared_ptr<StartPlaces> places) : places_(std::move(places)) {}
    Place(Place&& other) noexcept = default;
    Place& operator=(Place&& other) noexcept {
      std::swap(places_, other.places_);
      return *this;
    }
    ~Place() { leave(); }

    void leave() {
      if (const auto places = std::exchange(places_, nullptr)) places->give_back();
    }

   private:
    std::shared_ptr<StartPlaces> places_;
  };

  // Waits for a place. Throws if the coroutine is cancelled while it waits, like Asio's own operations.
  Task<Place> enter();

  std::size_t waiting() const;

 private:
  struct Waiter;

  void give_back();

  mutable std::mutex mutex_;
  std::size_t free_;
  std::deque<std::shared_ptr<Waiter>> queue_;
};

}  // namespace proteus::client
