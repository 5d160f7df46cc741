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
  // The program and its arguments. A program without a slash is looked up in the PATH of `environment`; one
  // with a slash is taken relative to `directory`.
  std::vector<std::string> argv;
  // All of the child's environment, as NAME=value; nothing is inherited unless it is listed here.
  std::vector<std::string> environment;
  std::string directory = {};  // where it runs; empty: where we do
};

// An environment of what programs commonly need of ours (PATH, HOME, locale and the like, and nothing that
// may be a secret of ours), with `settings` added and winning.
std::vector<std::string> child_environment(const std::vector<std::pair<std::string, std::string>>& settings);

// A child of this process, in a process group of its own, whose leader it is. It is killed if the thread that
// spawned it ends. Its owner must wait for it.
struct SpawnedChild {
  pid_t pid = -1;
  UniqueFd exited;  // a pidfd: readable once the child has exited
  UniqueFd input;   // our non-blocking ends of its standard streams
  UniqueFd output;
  UniqueFd errors;
};

// Returns once the program runs; a fault to run it is `unreachable` and names the program and the reason.
// Descriptors other than the standard streams, ignored signals and the signal mask are not passed on. From
// the first call on this process ignores SIGPIPE, unless it handles it. Safe to call from any thread.
Result<SpawnedChild> spawn_child(const Command& command);

}  // namespace proteus::net
