#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <proteus/error.hpp>
#include <sys/types.h>

#include "base/tasks/task.hpp"
#include "net/process/spawn.hpp"

namespace boost::asio {
class io_context;
}

namespace proteus::net {

struct ExitStatus {
  int code = 0;    // if the program exited on its own
  int signal = 0;  // the signal that killed it otherwise
};

// "exited with code 3", "was killed by signal 9 (Killed)"
std::string to_string(const ExitStatus& status);

struct ProcessOptions {
  std::size_t max_line_bytes = std::size_t{16} << 20U;
  // Input that may wait for a child that does not read; beyond it, `write` waits.
  std::size_t max_queued_bytes = std::size_t{1} << 20U;
  std::size_t max_stderr_line_bytes = 2048;  // the rest of a longer line is dropped
  // Called with each line of standard error, made printable. If empty, the lines are logged.
  std::function<void(std::string_view line)> on_stderr_line = {};
};

struct Grace {
  std::chrono::milliseconds after_end_of_input{2000};
  std::chrono::milliseconds after_sigterm{2000};
};

// A child process that communicates in lines over its standard streams. Belongs to the thread of its io_context. Its
// process group ends with it: what the child leaves behind is killed when it exits. The child is always reaped, so
// there are no zombies, and no SIGCHLD handler is needed. Destroying a Process kills its group.
class Process {
 public:
  // See spawn_child.
  static Result<Process> spawn(boost::asio::io_context& io, const Command& command, ProcessOptions options = {});

  Process(Process&&) noexcept;
  Process& operator=(Process&&) noexcept;
  ~Process();

  // Returns the next line of standard output, without its end; nothing once the output is closed, or read after the
  // child has exited. One call at a time.
  // The view is valid until the next call, and LineBuffer::kPadding bytes after it can be read. Errors: `interrupted`
  // if the output ends within a line; `too_large`, after which no more lines can be read; `cancelled`, also after
  // `terminate`.
  Task<Result<std::optional<std::string_view>>> read_line();
  // Returns an owner that keeps the last line valid. It may be released on any thread.
  std::shared_ptr<const void> take_memory();

  // Queues bytes for standard input, never between those of another call. Waits first while too many are queued. Copies
  // them unless the child takes them at once. Fails only if nothing was queued: `unreachable` if the child no longer
  // reads, or `cancelled`. The views must outlive the await.
  Task<Result<>> write(std::span<const std::string_view> parts);

  // Closes the child's input. Input that is queued and unsent is dropped.
  void close_input();

  // Returns when the child has exited.
  Task<ExitStatus> wait();
  std::optional<ExitStatus> exit_status() const;

  // Ends the child: closes its input, then sends SIGTERM, then SIGKILL to its group, each after its grace. If the
  // awaiting coroutine is cancelled, the rest of the grace is skipped.
  Task<ExitStatus> terminate(Grace grace = {});

  pid_t pid() const;

 private:
  struct State;
  explicit Process(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace proteus::net
