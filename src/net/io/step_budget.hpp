#pragma once

#include "base/task.hpp"

namespace proteus::net {

// Limits how many steps a coroutine takes without waiting. A peer that always has more to read must not keep the thread
// to itself: timers and everyone else on it would never run.
class StepBudget {
 public:
  // Asked before each step. True if others must run first: see `let_others_run`.
  bool is_over() {
    if (++steps_ <= kSteps) return false;
    steps_ = 0;
    return true;
  }
  // Whoever waited begins anew.
  void begin() { steps_ = 0; }

 private:
  static constexpr int kSteps = 4;
  int steps_ = 0;
};

// Goes to the end of the thread's queue. False where the coroutine was cancelled meanwhile.
Task<bool> let_others_run();

}  // namespace proteus::net
