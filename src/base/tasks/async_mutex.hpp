#pragma once

#include <utility>

#include "base/tasks/task.hpp"
#include "base/tasks/waiting.hpp"

namespace proteus {

// A mutex for coroutines, all of one thread. Must outlive its locks.
class AsyncMutex {
 public:
  explicit AsyncMutex(const Executor& thread) : free_(thread) {}
  AsyncMutex(const AsyncMutex&) = delete;
  AsyncMutex& operator=(const AsyncMutex&) = delete;

  // Holds the mutex while it lives.
  class Lock {
   public:
    explicit Lock(AsyncMutex& mutex) : mutex_(&mutex) { mutex.taken_ = true; }
    Lock(Lock&& other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)) {}
    Lock& operator=(Lock&&) = delete;
    ~Lock() {
      if (mutex_ == nullptr) return;
      mutex_->taken_ = false;
      mutex_->free_.ring();
    }

   private:
    AsyncMutex* mutex_;
  };

  Task<Lock> take() {
    while (taken_)
      co_await free_.wait();
    co_return Lock(*this);
  }
  bool taken() const { return taken_; }

 private:
  bool taken_ = false;
  Bell free_;
};

}  // namespace proteus
