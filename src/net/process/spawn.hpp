#pragma once

#include <string>
#include <utility>
#include <vector>

#include <proteus/error.hpp>
#include <sys/types.h>

#include "base/unique_fd.hpp"

namespace proteus::net {

// A program to run. No shell is involved.
struct Command {
  // The program and its arguments. A program without a slash is looked up in the PATH of `environment`; one with a
  // slash is relative to `directory`.
  std::vector<std::string> argv;
  // All of the child's environment, as NAME=value. Nothing else is inherited.
  std::vector<std::string> environment;
  std::string directory = {};  // working directory; empty for ours
};

// Returns the variables of our environment that programs commonly need (PATH, HOME, locale and the like, and none that
// may hold a secret), with `settings` added, which take precedence.
std::vector<std::string> child_environment(const std::vector<std::pair<std::string, std::string>>& settings);

// A child of this process and the leader of its own process group. It is killed if the thread that spawned it ends. Its
// owner must reap it.
struct SpawnedChild {
  pid_t pid = -1;
  UniqueFd exited;  // a pidfd: readable once the child has exited
  UniqueFd input;   // our non-blocking ends of its standard streams
  UniqueFd output;
  UniqueFd errors;
};

// Blocks until the program runs. If it cannot run, the error is `unreachable` and names the program and the reason.
// Descriptors other than the standard streams, ignored signals and the signal mask are not inherited. From the first
// call on, this process ignores SIGPIPE unless it handles it. Thread-safe.
Result<SpawnedChild> spawn_child(const Command& command);

}  // namespace proteus::net
