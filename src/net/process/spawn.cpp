#include "net/process/spawn.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <ranges>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/log/log.hpp"

namespace proteus::net {
namespace {

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

// Moves a descriptor above the standard streams, so that dup2 onto those never replaces one that is still needed.
UniqueFd lifted(int fd) {
  if (fd > STDERR_FILENO) return UniqueFd(fd);
  const UniqueFd low(fd);
  return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

std::optional<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  Pipe pipe{lifted(ends[0]), lifted(ends[1])};
  if (!pipe.read || !pipe.write) return std::nullopt;
  return pipe;
}

// The flag affects only our end; the child's end stays blocking, as programs expect.
bool set_non_blocking(const UniqueFd& fd) {
  return ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK) == 0;
}

std::string reason(int error) { return std::generic_category().message(error); }

Error cannot_run(const Command& command, std::string_view why) {
  return errors::unreachable(fmt::format("cannot run '{}': {}", log::printable(command.argv.front()), why));
}

bool is_program(const std::string& path) {
  struct stat found{};
  return ::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

std::optional<std::string> find_program(const Command& command) {
  const std::string& name = command.argv.front();
  if (name.contains('/')) return name;
  std::string_view path = "/usr/local/bin:/usr/bin:/bin";
  for (const std::string_view entry : command.environment) {
    if (entry.starts_with("PATH=")) path = entry.substr(5);
  }
  for (const auto part : std::views::split(path, ':')) {
    const std::string_view directory(part.begin(), part.end());
    if (!directory.starts_with('/')) continue;  // relative entries are not searched
    if (auto candidate = fmt::format("{}/{}", directory, name); is_program(candidate)) return candidate;
  }
  return std::nullopt;
}

std::vector<char*> c_strings(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts)
    out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// Why the child could not run its program. Sent through a pipe that closes when the program runs.
struct Failure {
  enum class Step : int { set_up, directory, program };
  Step step;
  int error;
};

struct ChildPlan {
  pid_t parent;
  const char* program;
  const char* directory;
  char* const* argv;
  char* const* environment;
  std::array<int, 3> streams;
  int report;
};

void close_others_on_exec() {
  if (::syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
  constexpr int kMostLikely = 65536;
  for (int fd = STDERR_FILENO + 1; fd < kMostLikely; ++fd)
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

// Runs in the fork of a multithreaded process: only async-signal-safe calls are allowed.
[[noreturn]] void become(const ChildPlan& plan) {
  const auto fail = [&](Failure::Step step) {
    const Failure failure{step, errno};
    [[maybe_unused]] const auto written = ::write(plan.report, &failure, sizeof failure);
    ::_exit(127);
  };
  if (::setpgid(0, 0) != 0 || ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail(Failure::Step::set_up);
  if (::getppid() != plan.parent) ::_exit(127);  // the parent ended before PR_SET_PDEATHSIG was set

  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal)
    ::sigaction(signal, &standard, nullptr);
  for (int stream = 0; stream < 3; ++stream) {
    if (::dup2(plan.streams[static_cast<std::size_t>(stream)], stream) < 0) fail(Failure::Step::set_up);
  }
  if (plan.directory && ::chdir(plan.directory) != 0) fail(Failure::Step::directory);
  close_others_on_exec();
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(plan.program, plan.argv, plan.environment);
  fail(Failure::Step::program);
  ::_exit(127);
}

// Blocks all signals meanwhile, because none of our handlers may run in the child before it executes its program.
pid_t fork_with_signals_blocked(const ChildPlan& plan) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) become(plan);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

std::optional<Failure> read_failure(const UniqueFd& report) {
  Failure failure{};
  ssize_t got = 0;
  do {
    got = ::read(report.get(), &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof failure)) return std::nullopt;
  return failure;
}

void reap(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// A write to a child that has ended must be an error, and pipes have no MSG_NOSIGNAL.
void ignore_sigpipe() {
  struct sigaction current{};
  ::sigaction(SIGPIPE, nullptr, &current);
  if (!(current.sa_flags & SA_SIGINFO) && current.sa_handler == SIG_DFL) ::signal(SIGPIPE, SIG_IGN);
}

}  // namespace

std::vector<std::string> child_environment(const std::vector<std::pair<std::string, std::string>>& settings) {
  static constexpr std::array kPassedOn = {"HOME",  "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH",
                                           "SHELL", "TERM", "TMPDIR", "TZ",       "USER"};
  std::vector<std::string> out;
  for (const char* name : kPassedOn) {
    const bool set = std::ranges::any_of(settings, [&](const auto& setting) { return setting.first == name; });
    if (const char* value = set ? nullptr : std::getenv(name)) out.push_back(fmt::format("{}={}", name, value));
  }
  for (const auto& [name, value] : settings)
    out.push_back(fmt::format("{}={}", name, value));
  return out;
}

Result<SpawnedChild> spawn_child(const Command& command) {
  if (command.argv.empty() || command.argv.front().empty()) {
    return std::unexpected(errors::invalid("a command needs a program"));
  }
  const auto holds_nul = [](const std::string& text) { return text.contains('\0'); };
  if (std::ranges::any_of(command.argv, holds_nul) || std::ranges::any_of(command.environment, holds_nul) ||
      holds_nul(command.directory)) {
    return std::unexpected(errors::invalid("a command must not hold a NUL character"));
  }
  ignore_sigpipe();

  const auto program = find_program(command);
  if (!program) return std::unexpected(cannot_run(command, "not found in PATH"));
  auto in = make_pipe();
  auto out = make_pipe();
  auto err = make_pipe();
  auto report = make_pipe();
  if (!in || !out || !err || !report || !set_non_blocking(in->write) || !set_non_blocking(out->read) ||
      !set_non_blocking(err->read)) {
    return std::unexpected(cannot_run(command, reason(errno)));
  }

  const auto argv = c_strings(command.argv);
  const auto environment = c_strings(command.environment);
  const pid_t pid = fork_with_signals_blocked({
      .parent = ::getpid(),
      .program = program->c_str(),
      .directory = command.directory.empty() ? nullptr : command.directory.c_str(),
      .argv = argv.data(),
      .environment = environment.data(),
      .streams = {in->read.get(), out->write.get(), err->write.get()},
      .report = report->write.get(),
  });
  if (pid < 0) return std::unexpected(cannot_run(command, reason(errno)));
  report->write.reset();

  if (const auto failure = read_failure(report->read)) {
    reap(pid);
    if (failure->step == Failure::Step::directory) {
      return std::unexpected(cannot_run(
          command, fmt::format("directory '{}': {}", log::printable(command.directory), reason(failure->error))));
    }
    return std::unexpected(cannot_run(command, reason(failure->error)));
  }
  UniqueFd exited(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!exited) {
    const int error = errno;
    ::kill(-pid, SIGKILL);
    reap(pid);
    return std::unexpected(cannot_run(command, reason(error)));
  }
  return SpawnedChild{.pid = pid,
                      .exited = std::move(exited),
                      .input = std::move(in->write),
                      .output = std::move(out->read),
                      .errors = std::move(err->read)};
}

}  // namespace proteus::net
