#pragma once

#include "base/tasks/task.hpp"

namespace proteus::net {

// Limits how many steps a coroutine takes without waiting. Otherwise a peer that always has more to read would keep the
// thread busy, and timers and other handlers would never run.
class StepBudget {
 public:
  // Counts a step; called before it. Returns true if other handlers must run first: see `let_others_run`.
  bool is_over() {
    if (++steps_ <= kSteps) return false;
    steps_ = 0;
    return true;
  }
  // Resets the count, for a coroutine that has just waited.
  void begin() { steps_ = 0; }

 private:
  static constexpr int kSteps = 4;
  int steps_ = 0;
};

// Resumes at the end of the thread's queue. Returns false if the coroutine was cancelled meanwhile.
Task<bool> let_others_run();

}  // namespace proteus::net
