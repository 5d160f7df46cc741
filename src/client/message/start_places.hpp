#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "base/task.hpp"

namespace proteus::client {

// Lets so many programs start at a time, so that they do not overrun each other's time. Those who wait are let in one
// after the other. Thread-safe; lives for as long as anybody has a place or waits for one.
class StartPlaces : public std::enable_shared_from_this<StartPlaces> {
 public:
  explicit StartPlaces(std::size_t places) : free_(places) {}
  StartPlaces(const StartPlaces&) = delete;
  StartPlaces& operator=(const StartPlaces&) = delete;

  // Held while a program starts; the next one is let in when it ends. May be empty.
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

  // A coroutine that is cancelled while it waits ends by an exception, as with Asio's own operations.
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
