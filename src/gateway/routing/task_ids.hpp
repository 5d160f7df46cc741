#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/sealing.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {

// A task at an upstream, and the tool whose call began it, by the name that its caller used: whoever may not use the
// tool any more may not reach the task either.
struct TaskAtUpstream {
  std::string upstream;
  std::string tool;
  std::string own;  // the upstream's id
};

// Task ids as clients get them: encrypted and authenticated, and bound to the caller and its context; of an anonymous
// caller that has a session, also to that. So nobody can make one, or use another caller's, and equal ids of two
// upstreams do not meet. The same task has the same id each time. Ids live as long as the key. Thread-safe.
class TaskIds {
 public:
  explicit TaskIds(SealingKey key) : key_(key) {}

  // Of an upstream's id. The longest that was seen in the wild has 36.
  static constexpr std::size_t kLongestOwn = 1024;

  // Fails where the upstream's id is empty or too long.
  Result<std::string> show(const TaskAtUpstream& task, const server::Call& call) const;
  // Fails, as the protocol has it for a task that does not exist, where it is not of this caller.
  Result<TaskAtUpstream> open(std::string_view id, const server::Call& call) const;

 private:
  SealingKey key_;
};

// There is no such task for this caller.
Error unknown_task();

}  // namespace proteus::gateway
