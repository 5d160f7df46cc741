#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace proteus {

// An immutable value that is read all the time and occasionally replaced as a whole. Thread-safe. Each Reader caches
// the value that it saw last: reading costs an atomic load, and a short lock once after each replacement.
template <class T>
class Published {
 public:
  using Pointer = std::shared_ptr<const T>;

  explicit Published(Pointer first) : value_(std::move(first)) {}

  void set(Pointer value) {
    const std::scoped_lock lock(mutex_);
    value_.swap(value);  // `value` destroys the old one after the lock is released: large values take long
    version_.fetch_add(1, std::memory_order_release);
  }
  Pointer get() const {
    const std::scoped_lock lock(mutex_);
    return value_;
  }

  // A cached view for one thread. The Published must outlive it.
  class Reader {
   public:
    explicit Reader(const Published& published) : published_(published) { update(); }

    const T& operator*() { return *get(); }
    const T* operator->() { return get().get(); }
    const Pointer& get() {
      if (published_.version_.load(std::memory_order_acquire) != version_) [[unlikely]]
        update();
      return value_;
    }

   private:
    void update() {
      Pointer newest;
      {
        const std::scoped_lock lock(published_.mutex_);
        newest = published_.value_;
        version_ = published_.version_.load(std::memory_order_relaxed);
      }
      value_ = std::move(newest);
    }

    const Published& published_;
    Pointer value_;
    std::uint64_t version_ = 0;
  };

 private:
  mutable std::mutex mutex_;
  Pointer value_;
  std::atomic<std::uint64_t> version_ = 0;
};

}  // namespace proteus
