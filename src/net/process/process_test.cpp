#include "net/process/process.hpp"

#include <csignal>
#include <thread>

#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "net/testing/process_fixture.hpp"

namespace proteus::net::test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

Task<Result<std::vector<std::string>>> read_last_lines(Process& process) {
  std::vector<std::string> lines;
  for (;;) {
    const auto line = co_await process.read_line();
    if (!line) co_return std::unexpected(line.error());
    if (!*line) co_return lines;
    lines.emplace_back(**line);
  }
}

TEST_F(ProcessTest, AnswersLineByLine) {
  Process cat = start({"cat"});
  ASSERT_TRUE(write(cat, "one\ntwo\r\n\nthree\n"));
  EXPECT_EQ(read(cat), "one");
  EXPECT_EQ(read(cat), "two");
  EXPECT_EQ(read(cat), "");
  EXPECT_EQ(read(cat), "three");
  cat.close_input();
  EXPECT_EQ(read(cat), "(end)");
  EXPECT_EQ(read(cat), "(end)");
  EXPECT_EQ(to_string(run(*io_, cat.wait())), "exited with code 0");
}

TEST_F(ProcessTest, GathersWhatIsWritten) {
  Process cat = start({"cat"});
  const std::vector<std::string_view> parts(100, "ab");
  ASSERT_TRUE(run(*io_, cat.write(parts)));
  ASSERT_TRUE(write(cat, "\n"));
  std::string expected;
  for (const auto part : parts)
    expected += part;
  EXPECT_EQ(read(cat), expected);
}

TEST_F(ProcessTest, HasOnlyTheEnvironmentItWasGiven) {
  ::setenv("PROTEUS_PEPPER", "secret", 1);
  const Command command{.argv = {"env"}, .environment = child_environment({{"MODE", "a b"}, {"HOME", "/nowhere"}})};
  auto env = Process::spawn(*io_, command).value();
  std::vector<std::string> lines;
  for (std::string line = read(env); line != "(end)"; line = read(env))
    lines.push_back(line);
  ::unsetenv("PROTEUS_PEPPER");
  EXPECT_THAT(lines, testing::IsSupersetOf({"MODE=a b", "HOME=/nowhere"}));
  EXPECT_THAT(lines, testing::Not(testing::Contains(HasSubstr("PEPPER"))));
}

TEST_F(ProcessTest, RunsWhereItIsTold) {
  const Command command{.argv = {"pwd"}, .environment = child_environment({}), .directory = "/usr/bin"};
  auto pwd = Process::spawn(*io_, command).value();
  EXPECT_EQ(read(pwd), "/usr/bin");
}

TEST_F(ProcessTest, GetsNoDescriptorsButItsOwnStreams) {
  const int leaky = ::dup(STDIN_FILENO);  // not close-on-exec
  Process cat = start({"cat"});
  ::close(leaky);
  ASSERT_TRUE(write(cat, "loaded\n"));
  ASSERT_EQ(read(cat), "loaded");
  std::vector<std::string> open;
  for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", cat.pid()))) {
    open.push_back(entry.path().filename());
  }
  EXPECT_THAT(open, testing::UnorderedElementsAre("0", "1", "2"));
}

TEST_F(ProcessTest, InheritsNoIgnoredSignalsAndNoMask) {
  sigset_t blocked;
  sigset_t before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  Process shown = shell("grep -E 'SigBlk|SigIgn' /proc/self/status");
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(read(shown), "SigBlk:\t0000000000000000");
  // The C library reserves signals 32 and 33; no program can change how they were inherited.
  constexpr std::uint64_t kReserved = std::uint64_t{3} << 31U;
  const std::string ignored = read(shown);
  ASSERT_TRUE(ignored.starts_with("SigIgn:\t")) << ignored;
  EXPECT_EQ(std::stoull(ignored.substr(8), nullptr, 16) & ~kReserved, 0U) << ignored;
}

TEST_F(ProcessTest, DiesWithTheThreadThatSpawnedIt) {
  Result<SpawnedChild> child;
  std::thread([&] { child = spawn_child({.argv = {"sleep", "1000"}, .environment = child_environment({})}); }).join();
  ASSERT_TRUE(child);
  int status = 0;
  EXPECT_EQ(::waitpid(child->pid, &status, 0), child->pid);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST_F(ProcessTest, ThatCannotRunIsAClearError) {
  const auto fault = [&](std::string program, std::string directory = "") {
    const Command command{.argv = {program}, .environment = child_environment({}), .directory = directory};
    const auto process = Process::spawn(*io_, command);
    EXPECT_FALSE(process);
    if (process) return std::string();
    EXPECT_EQ(process.error().kind(), ErrorKind::unreachable);
    return process.error().message();
  };
  EXPECT_EQ(fault("no-such-program"), "cannot run 'no-such-program': not found in PATH");
  EXPECT_EQ(fault("/no/such/program"), "cannot run '/no/such/program': No such file or directory");
  EXPECT_EQ(fault("/etc/passwd"), "cannot run '/etc/passwd': Permission denied");
  EXPECT_EQ(fault("cat", "/no/such/place"), "cannot run 'cat': directory '/no/such/place': No such file or directory");
  EXPECT_EQ(Process::spawn(*io_, {.argv = {}, .environment = {}}).error().kind(), ErrorKind::invalid);
  EXPECT_EQ(Process::spawn(*io_, {.argv = {std::string("a\0b", 3)}, .environment = {}}).error().kind(),
            ErrorKind::invalid);
}

TEST_F(ProcessTest, TellsHowItEnded) {
  Process exiting = shell("exit 3");
  EXPECT_EQ(to_string(run(*io_, exiting.wait())), "exited with code 3");
  Process killed = shell("kill -SEGV $$");
  EXPECT_EQ(to_string(run(*io_, killed.wait())), "was killed by signal 11 (Segmentation fault)");
}

TEST_F(ProcessTest, GivesItsLastLinesAfterItExited) {
  Process talker = shell("echo one; echo two");
  run(*io_, talker.wait());
  EXPECT_EQ(read(talker), "one");
  EXPECT_EQ(read(talker), "two");
  EXPECT_EQ(read(talker), "(end)");
}

TEST_F(ProcessTest, EndsItsOutputThoughAHelperKeepsItOpen) {
  Process parent = shell("setsid sh -c 'echo $$; exec sleep 1000' & read -r line; echo last; exit 3");
  const pid_t helper = std::stoi(read(parent));
  Started reading(*io_, read_last_lines(parent));
  ASSERT_TRUE(write(parent, "go\n"));
  const auto lines = reading.finish();
  EXPECT_TRUE(is_running(helper));
  ::kill(helper, SIGKILL);
  EXPECT_THAT(lines.value(), ElementsAre("last"));
}

TEST_F(ProcessTest, ThatDiesWithinALineInterrupts) {
  Process half = shell("printf 'whole\\n{\"half'");
  EXPECT_EQ(read(half), "whole");
  EXPECT_EQ(read(half), "error: the output of 'sh' ended within a line");
  EXPECT_EQ(read(half), "(end)");
}

TEST_F(ProcessTest, ThatIsGoneCannotBeWrittenTo) {
  Process gone = shell("exit 0");
  run(*io_, gone.wait());
  const auto written = write(gone, "x\n");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind(), ErrorKind::unreachable);
  EXPECT_EQ(written.error().message(), "'sh' exited with code 0");
}

TEST_F(ProcessTest, ThatClosedItsInputDoesNotKillUs) {
  Process deaf = shell("exec <&-; echo ready; exec sleep 1000");
  ASSERT_EQ(read(deaf), "ready");
  const auto written = write(deaf, "x\n");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message(), "'sh' no longer reads its input");
  terminate(deaf, kNoGrace);
}

TEST_F(ProcessTest, ThatFloodsItsOutputIsReadAtOurPace) {
  Process yes = start({"yes", "0123456789"});
  for (int i = 0; i < 10000; ++i)
    ASSERT_EQ(read(yes), "0123456789");
  EXPECT_EQ(terminate(yes, kNoGrace).signal, SIGTERM);
}

Task<Result<>> count_lines(Process& process, std::size_t& count) {
  for (;;) {
    const auto line = co_await process.read_line();
    if (!line) co_return std::unexpected(line.error());
    if (!*line) co_return Result<>{};
    ++count;
  }
}

TEST_F(ProcessTest, ThatFloodsItsOutputLeavesOthersTheirTurn) {
  // As much as a pipe holds, so that everything has arrived before the first line is read.
  bool full = false;
  Process flood = shell("yes 0123456789abcde | head -c 65536; echo full >&2; exec cat",
                        {.on_stderr_line = [&](std::string_view) { full = true; }});
  run_until(*io_, [&] { return full; });
  std::size_t lines = 0;
  Started counting(*io_, count_lines(flood, lines));
  std::optional<std::size_t> lines_before;
  asio::post(*io_, [&] { lines_before = lines; });
  run_until(*io_, [&] { return lines_before.has_value(); });
  EXPECT_GT(*lines_before, 0U);
  EXPECT_LT(*lines_before, 4096U);
  flood.close_input();
  EXPECT_TRUE(counting.finish());
  EXPECT_EQ(lines, 4096U);
  terminate(flood, kNoGrace);
}

TEST_F(ProcessTest, ThatFloodsItsOutputDoesNotKeepAReaderFromBeingCancelled) {
  Process yes = start({"yes", "0123456789"});
  std::size_t lines = 0;
  Started counting(*io_, count_lines(yes, lines));
  run_until(*io_, [&] { return lines > 0; });
  counting.cancel();
  run_until(*io_, [&] { return counting.result.has_value(); });
  terminate(yes, kNoGrace);
}

TEST_F(ProcessTest, ThatWritesAnEndlessLineIsCutOff) {
  Process endless = shell("echo fine; exec cat /dev/zero", {.max_line_bytes = 100'000});
  EXPECT_EQ(read(endless), "fine");
  EXPECT_EQ(read(endless), "error: sh: a line is over the limit of 100000");
  EXPECT_EQ(read(endless), "error: sh: a line is over the limit of 100000");
  terminate(endless, kNoGrace);
}

TEST_F(ProcessTest, PassesOnStandardErrorInPrintableLines) {
  std::vector<std::string> lines;
  Process noisy = shell("printf 'one\\r\\n\\n\\033[31mtwo\\nabcdefghijklmnop\\nlast' >&2",
                        {.max_stderr_line_bytes = 12, .on_stderr_line = [&](auto line) { lines.emplace_back(line); }});
  run_until(*io_, [&] { return lines.size() == 4; });
  EXPECT_THAT(lines, ElementsAre("one", "\\x1b[31mtwo", "abcdefghijkl…", "last"));
}

TEST_F(ProcessTest, ThatFloodsStandardErrorStillAnswers) {
  std::size_t lines = 0;
  Process noisy = shell("yes complaint >&2 & while read -r line; do echo \"got $line\"; done; kill $!; wait",
                        {.on_stderr_line = [&](auto) { ++lines; }});
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(write(noisy, "x\n"));
    ASSERT_EQ(read(noisy), "got x");
  }
  run_until(*io_, [&] { return lines > 1000; });
  terminate(noisy, kLongGrace);
}

TEST_F(ProcessTest, ThatWritesAnEndlessLineOfComplaintsCostsNoMemory) {
  std::vector<std::string> lines;
  Process noisy = shell("head -c 300000 /dev/zero | tr '\\0' x >&2",
                        {.max_stderr_line_bytes = 10, .on_stderr_line = [&](auto line) { lines.emplace_back(line); }});
  run_until(*io_, [&] { return !lines.empty(); });
  EXPECT_THAT(lines, ElementsAre("xxxxxxxxxx…"));
}

TEST_F(ProcessTest, EndsByItselfWhenItsInputEnds) {
  Process cat = start({"cat"});
  EXPECT_EQ(terminate(cat, kLongGrace).signal, 0);
  EXPECT_EQ(read(cat), "error: reading a line was cancelled");
}

TEST_F(ProcessTest, IsAskedToTerminateWhenEndOfInputIsNotEnough) {
  Process sleeper = shell("trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done");
  ASSERT_EQ(read(sleeper), "ready");
  EXPECT_EQ(terminate(sleeper, {.after_end_of_input = 0ms, .after_sigterm = 1h}).code, 7);
}

TEST_F(ProcessTest, ThatIgnoresSigtermIsKilled) {
  Process stubborn = shell("trap '' TERM; echo ready; while :; do sleep 0.01; done");
  ASSERT_EQ(read(stubborn), "ready");
  EXPECT_EQ(terminate(stubborn, {.after_end_of_input = 0ms, .after_sigterm = 1ms}).signal, SIGKILL);
}

TEST_F(ProcessTest, TakesItsChildrenAlong) {
  Process parent = shell("sleep 1000 & echo $!; wait");
  const pid_t grandchild = std::stoi(read(parent));
  EXPECT_TRUE(is_running(grandchild));
  ::kill(parent.pid(), SIGKILL);
  run(*io_, parent.wait());
  // It was killed, but init takes some time to reap it.
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (is_running(grandchild) && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
  EXPECT_FALSE(is_running(grandchild));
}

TEST_F(ProcessTest, IsKilledByDestruction) {
  pid_t pid = -1;
  {
    Process sleeper = start({"sleep", "1000"});
    pid = sleeper.pid();
  }
  run_until(*io_, [&] { return !is_running(pid); });
}

TEST_F(ProcessTest, IsReapedEvenIfNothingRunsAnyMore) { Process sleeper = start({"sleep", "1000"}); }

TEST_F(ProcessTest, IsNotWaitedForLongWhenTheOneWhoEndsItIsCancelled) {
  Process stubborn = shell("trap '' TERM; echo ready; while :; do sleep 0.01; done");
  ASSERT_EQ(read(stubborn), "ready");
  Started ending(*io_, stubborn.terminate(kLongGrace));
  settle(*io_);
  ending.cancel();
  run_until(*io_, [&] { return ending.result.has_value(); });
  EXPECT_FALSE(ending.failure);
  EXPECT_EQ(ending.result->signal, SIGKILL);
}

TEST_F(ProcessTest, LosesNothingWhenAReaderIsCancelled) {
  Process cat = start({"cat"});
  Started reading(*io_, cat.read_line());
  settle(*io_);
  ASSERT_TRUE(write(cat, "half"));
  reading.cancel();
  run_until(*io_, [&] { return reading.result.has_value(); });
  EXPECT_EQ(reading.result->error().kind(), ErrorKind::cancelled);
  ASSERT_TRUE(write(cat, " whole\n"));
  EXPECT_EQ(read(cat), "half whole");
}

}  // namespace
}  // namespace proteus::net::test
