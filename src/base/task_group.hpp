#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/task.hpp"

namespace proteus {

// Owns coroutines: nothing in the program is detached. A group belongs to one executor (one thread); every
// member function must be called on it, except the constructor. Destroying a group whose tasks still run is a
// bug that terminates the program.
class TaskGroup {
 public:
  explicit TaskGroup(const Executor& executor);
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Starts a task. After `cancel` a new task is cancelled at its first suspension. An exception that leaves a
  // task is logged under `name`, and ends only that task.
  void spawn(std::string_view name, Task<> task);

  // Asks every running task to stop, by terminal cancellation of what it waits for.
  void cancel();

  // Completes when no task runs any more, also where the awaiting coroutine is cancelled, which owns what they use.
  Task<> join();

  std::size_t size() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace proteus
