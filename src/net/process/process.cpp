#include "net/process/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "base/log/log.hpp"
#include "base/log/stranger_log.hpp"
#include "base/tasks/waiting.hpp"
#include "net/io/completion.hpp"
#include "net/io/step_budget.hpp"
#include "net/io/timer.hpp"
#include "net/process/line_buffer.hpp"

namespace proteus::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Descriptor = asio::posix::basic_stream_descriptor<asio::io_context::executor_type>;

// Number of reads from standard error before other handlers get their turn.
constexpr int kReadsPerTurn = 8;

// Splits standard error into lines of bounded length.
class StderrLines {
 public:
  explicit StderrLines(std::size_t limit) : limit_(limit) {}

  template <class Sink>
  void take(std::string_view bytes, Sink&& sink) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      line_ += bytes.substr(0, std::min(end, limit_ + 1 - std::min(line_.size(), limit_ + 1)));
      if (end == std::string_view::npos) return;
      finish(sink);
      bytes.remove_prefix(end + 1);
    }
  }
  template <class Sink>
  void finish(Sink&& sink) {
    if (line_.ends_with('\r')) line_.pop_back();
    if (!line_.empty()) sink(log::printable(line_, limit_));
    line_.clear();
  }

 private:
  std::size_t limit_;
  std::string line_;  // at most one byte more than the limit, so that a cut shows
};

}  // namespace

std::string to_string(const ExitStatus& status) {
  if (status.signal == 0) return fmt::format("exited with code {}", status.code);
  const char* name = ::sigdescr_np(status.signal);
  return fmt::format("was killed by signal {} ({})", status.signal, name ? name : "unknown");
}

// Shared by the Process and the handlers of pending waits, so that the child is reaped even after the Process is
// destroyed.
struct Process::State : std::enable_shared_from_this<State> {
  State(asio::io_context& on, const Command& command, pid_t child, ProcessOptions given)
      : io(on),
        program(log::printable(command.argv.front())),
        options(std::move(given)),
        pid(child),
        exited(on),
        input(on),
        output(on),
        diagnostics(on),
        lines(options.max_line_bytes),
        stderr_lines(options.max_stderr_line_bytes),
        room(on.get_executor()),
        exit_bell(on.get_executor()) {}

  ~State() {
    if (exit) return;
    signal_group(SIGKILL);
    collect(0);
  }

  bool adopt(SpawnedChild& child) {
    error_code error;
    const auto assign = [&](Descriptor& to, UniqueFd& from) {
      if (!error) to.assign(from.get(), error);
      if (!error) from.release();
    };
    assign(exited, child.exited);
    assign(input, child.input);
    assign(output, child.output);
    assign(diagnostics, child.errors);
    return !error;
  }

  void signal_group(int signal) {
    if (!exit) ::kill(-pid, signal);
  }

  void watch_exit() {
    exited.async_wait(Descriptor::wait_read, [self = shared_from_this()](error_code error) {
      if (error) return;
      if (const auto status = self->collect(WNOHANG)) return self->set_exit(*status);
      self->watch_exit();
    });
  }

  // Waits for the child as `flags` say, and reaps it. Then its pid, which is also the group's id, is free for other
  // processes, so the group is killed before.
  std::optional<ExitStatus> collect(int flags) const {
    siginfo_t info{};
    while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT | flags) != 0) {
      if (errno != EINTR) return ExitStatus{};  // other code has reaped our child
    }
    if (info.si_pid == 0) return std::nullopt;
    ::kill(-pid, SIGKILL);
    ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG);
    if (info.si_code == CLD_EXITED) return ExitStatus{.code = info.si_status, .signal = 0};
    return ExitStatus{.code = 0, .signal = info.si_status};
  }

  void set_exit(ExitStatus status) {
    exit = status;
    error_code ignored;
    exited.close(ignored);
    output.cancel(ignored);  // wakes `read_line`
    close_input();
    exit_bell.ring();
  }

  void watch_stderr() {
    diagnostics.async_wait(Descriptor::wait_read, [self = shared_from_this()](error_code error) {
      if (!error) self->read_stderr();
    });
  }

  void read_stderr() {
    const auto sink = [this](const std::string& line) {
      if (options.on_stderr_line) return options.on_stderr_line(line);
      printed.info("{}", line);
    };
    std::array<char, 4096> bytes;
    for (int reads = 0; reads < kReadsPerTurn && diagnostics.is_open();) {
      const ssize_t got = ::read(diagnostics.native_handle(), bytes.data(), bytes.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) break;
      if (got <= 0) {
        stderr_lines.finish(sink);
        error_code ignored;
        diagnostics.close(ignored);
        return;
      }
      ++reads;
      stderr_lines.take({bytes.data(), static_cast<std::size_t>(got)}, sink);
    }
    if (diagnostics.is_open()) watch_stderr();
  }

  // Returns how many bytes the pipe took, or an error.
  std::expected<std::size_t, int> try_write(std::span<const std::string_view> parts) {
    std::size_t written = 0;
    while (!parts.empty()) {
      std::array<iovec, 32> vectors;
      const std::size_t count = std::min(parts.size(), vectors.size());
      std::size_t wanted = 0;
      for (std::size_t i = 0; i < count; ++i) {
        vectors[i] = {const_cast<char*>(parts[i].data()), parts[i].size()};
        wanted += parts[i].size();
      }
      parts = parts.subspan(count);
      if (wanted == 0) continue;
      ssize_t sent = 0;
      do {
        sent = ::writev(input.native_handle(), vectors.data(), static_cast<int>(count));
      } while (sent < 0 && errno == EINTR);
      if (sent < 0 && errno == EAGAIN) return written;
      if (sent < 0 && written == 0) return std::unexpected(errno);
      if (sent < 0) return written;  // the next write fails, too
      written += static_cast<std::size_t>(sent);
      if (static_cast<std::size_t>(sent) < wanted) return written;
    }
    return written;
  }

  std::size_t queued_bytes() const { return queue.size() - queue_sent; }

  void enqueue(std::span<const std::string_view> parts, std::size_t skip) {
    const bool idle = queued_bytes() == 0;
    for (std::string_view part : parts) {
      const std::size_t skipped = std::min(skip, part.size());
      queue += part.substr(skipped);
      skip -= skipped;
    }
    if (idle && queued_bytes() > 0) watch_input();
  }

  void watch_input() {
    input.async_wait(Descriptor::wait_write, [self = shared_from_this()](error_code error) {
      if (!error && self->input.is_open()) self->drain();
    });
  }

  void drain() {
    const std::array<std::string_view, 1> rest = {std::string_view(queue).substr(queue_sent)};
    const auto taken = try_write(rest);
    if (!taken) return close_input();
    queue_sent += *taken;
    if (queued_bytes() == 0) {
      std::string().swap(queue);
      queue_sent = 0;
    } else {
      // Not each time, because the rest is moved.
      if (queue_sent > queued_bytes()) queue.erase(0, std::exchange(queue_sent, 0));
      watch_input();
    }
    if (queued_bytes() <= options.max_queued_bytes) room.ring();
  }

  void close_input() {
    error_code ignored;
    input.close(ignored);
    queue.clear();
    queue_sent = 0;
    room.ring();
  }

  void abandon() {
    abandoned = true;
    close_input();
    error_code ignored;
    output.close(ignored);
    diagnostics.close(ignored);
  }

  // Waits until the child has exited, the time is up, or the caller is cancelled.
  Task<> exit_within(std::chrono::milliseconds time) {
    const auto up = std::make_shared<bool>(false);
    Timer alarm(io, time);
    alarm.async_wait([self = shared_from_this(), up](error_code error) {
      *up = true;
      if (!error) self->exit_bell.ring();
    });
    while (!exit && !*up) {
      const auto cancellation = co_await asio::this_coro::cancellation_state;
      if (cancellation.cancelled() != asio::cancellation_type::none) break;
      co_await exit_bell.wait_quietly();
    }
  }

  Error gone() const {
    return errors::unreachable(exit ? fmt::format("'{}' {}", program, to_string(*exit))
                                    : fmt::format("'{}' no longer reads its input", program));
  }

  asio::io_context& io;
  std::string program;
  StrangerLog printed{program};  // log of standard error
  ProcessOptions options;
  pid_t pid;
  Descriptor exited;
  Descriptor input;
  Descriptor output;
  Descriptor diagnostics;
  LineBuffer lines;
  StepBudget budget;  // of `read_line`
  StderrLines stderr_lines;
  std::string queue;
  std::size_t queue_sent = 0;
  Bell room;
  Bell exit_bell;
  std::optional<ExitStatus> exit;
  bool abandoned = false;
};

Result<Process> Process::spawn(asio::io_context& io, const Command& command, ProcessOptions options) {
  auto child = spawn_child(command);
  if (!child) return std::unexpected(std::move(child).error());
  auto state = std::make_shared<State>(io, command, child->pid, std::move(options));
  if (!state->adopt(*child)) return std::unexpected(errors::internal("cannot watch a child process"));
  state->watch_exit();
  state->watch_stderr();
  return Process(std::move(state));
}

Process::Process(std::shared_ptr<State> state) : state_(std::move(state)) {}
Process::Process(Process&&) noexcept = default;

Process& Process::operator=(Process&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Process::~Process() {
  if (!state_) return;
  state_->abandon();
  state_->signal_group(SIGKILL);
}

std::shared_ptr<const void> Process::take_memory() { return state_->lines.take_memory(); }

Task<Result<std::optional<std::string_view>>> Process::read_line() {
  const auto state = state_;
  for (;;) {
    auto line = state->lines.take_line();
    if (!line) co_return std::unexpected(std::move(line).error().within(state->program));
    if (*line) co_return *line;
    if (state->abandoned) co_return std::unexpected(errors::cancelled("reading a line"));
    if (!state->output.is_open()) {
      if (!state->lines.has_partial_line()) co_return std::nullopt;
      state->lines.drop_partial_line();
      co_return std::unexpected(
          errors::interrupted(fmt::format("the output of '{}' ended within a line", state->program)));
    }
    if (state->budget.is_over()) {
      if (!co_await let_others_run()) co_return std::unexpected(errors::cancelled("reading a line"));
      continue;
    }
    const std::span<char> room = state->lines.room();
    const ssize_t got = ::read(state->output.native_handle(), room.data(), room.size());
    if (got > 0) {
      state->lines.commit(static_cast<std::size_t>(got));
    } else if (got < 0 && errno == EAGAIN && !state->exit) {
      const auto [error] = co_await state->output.async_wait(Descriptor::wait_read, kAwaited);
      if (error && !state->exit) co_return std::unexpected(errors::cancelled("reading a line"));
      state->budget.begin();
    } else if (got == 0 || errno != EINTR) {
      // After the exit, only a helper in another process group can still hold the pipe.
      error_code ignored;
      state->output.close(ignored);
    }
  }
}

Task<Result<>> Process::write(std::span<const std::string_view> parts) {
  const auto state = state_;
  while (state->queued_bytes() > state->options.max_queued_bytes) {
    co_await state->room.wait_quietly();
    const auto cancellation = co_await asio::this_coro::cancellation_state;
    if (cancellation.cancelled() != asio::cancellation_type::none) {
      co_return std::unexpected(errors::cancelled("writing to a child process"));
    }
  }
  if (!state->input.is_open()) co_return std::unexpected(state->gone());
  std::size_t taken = 0;
  if (state->queued_bytes() == 0) {
    const auto written = state->try_write(parts);
    if (!written) {
      state->close_input();
      co_return std::unexpected(state->gone());
    }
    taken = *written;
  }
  state->enqueue(parts, taken);
  co_return Result<>{};
}

void Process::close_input() { state_->close_input(); }

Task<ExitStatus> Process::wait() {
  const auto state = state_;
  while (!state->exit)
    co_await state->exit_bell.wait_quietly();
  co_return *state->exit;
}

std::optional<ExitStatus> Process::exit_status() const { return state_->exit; }

Task<ExitStatus> Process::terminate(Grace grace) {
  const auto state = state_;
  // A cancelled caller must not return before the child has ended; cancellation only skips the grace.
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  state->close_input();
  co_await state->exit_within(grace.after_end_of_input);
  if (!state->exit) {
    state->signal_group(SIGTERM);
    co_await state->exit_within(grace.after_sigterm);
  }
  state->signal_group(SIGKILL);
  while (!state->exit)
    co_await state->exit_bell.wait_quietly();
  state->abandon();
  co_await asio::this_coro::throw_if_cancelled(throws);
  co_return *state->exit;
}

pid_t Process::pid() const { return state_->pid; }

}  // namespace proteus::net
