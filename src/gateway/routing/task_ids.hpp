#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/secrets/sealing.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {

// A task at an upstream, and the tool whose call began it, by the caller's name for it: a caller that may no longer use
// the tool cannot reach the task.
struct TaskAtUpstream {
  std::string upstream;
  std::string tool;
  std::string own;  // the upstream's id
};

// Task ids as clients get them: encrypted, authenticated, and bound to the caller and its context, for an anonymous
// caller also to its session if there is one. So nobody can forge an id or use another caller's, and equal ids of two
// upstreams stay distinct. The same task always has the same id. Ids are valid as long as the key. Thread-safe.
class TaskIds {
 public:
  explicit TaskIds(SealingKey key) : key_(key) {}

  // Limit of an upstream's id. The longest one seen in practice has 36 bytes.
  static constexpr std::size_t kLongestOwn = 1024;

  // Fails if the upstream's id is empty or too long.
  Result<std::string> show(const TaskAtUpstream& task, const server::Call& call) const;
  // Fails with `unknown_task` if the task is not this caller's.
  Result<TaskAtUpstream> open(std::string_view id, const server::Call& call) const;

 private:
  SealingKey key_;
};

// The error for a task that does not exist for this caller.
Error unknown_task();

}  // namespace proteus::gateway
