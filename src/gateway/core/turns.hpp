#pragma once

#include <utility>

#include "base/task.hpp"
#include "base/waiting.hpp"

namespace proteus::gateway {

// Lets one coroutine go on at a time. Belongs to one thread, and outlives the turns.
class Turns {
 public:
  explicit Turns(const Executor& thread) : free_(thread) {}
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  // Lets the next one go on when it ends.
  class Turn {
   public:
    explicit Turn(Turns& turns) : turns_(&turns) { turns.taken_ = true; }
    Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (turns_ == nullptr) return;
      turns_->taken_ = false;
      turns_->free_.ring();
    }

   private:
    Turns* turns_;
  };

  Task<Turn> take() {
    while (taken_)
      co_await free_.wait();
    co_return Turn(*this);
  }
  bool taken() const { return taken_; }

 private:
  bool taken_ = false;
  Bell free_;
};

}  // namespace proteus::gateway
