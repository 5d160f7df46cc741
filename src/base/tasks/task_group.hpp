#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/tasks/task.hpp"

namespace proteus {

// Owns coroutines: nothing in the program is detached. A group belongs to one executor (one thread); every member
// function except the constructor must be called on it. Destroying a group while tasks run is a bug that terminates the
// program.
class TaskGroup {
 public:
  explicit TaskGroup(const Executor& executor);
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Starts a task. After `cancel`, a new task is cancelled at its first suspension. An exception that leaves a task
  // ends only that task, and is logged under `name` unless it is `operation_aborted`.
  void spawn(std::string_view name, Task<> task);

  // Requests terminal cancellation of every task.
  void cancel();

  // Completes when no task runs any more, even if the awaiting coroutine is cancelled, because that coroutine owns what
  // the tasks use.
  Task<> join();

  std::size_t size() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace proteus
