#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <map>
#include <random>
#include <set>

#include <boost/asio/detached.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/unique_fd.hpp"
#include "store/data_directory.hpp"
#include "store/testing/sqlite_fixture.hpp"

// A process registers upstreams and is killed at a random moment; everything that it acknowledged must be there
// afterwards. The process is this test program, started again: see `main`.
namespace proteus::store::test {
namespace {

constexpr const char* kVictim = "--register-until-killed";
constexpr int kAtOnce = 4;

// Everything in the record follows from its name, so that a partly written record would show.
UpstreamRecord record_of(const std::string& name) {
  UpstreamRecord record = upstream(name);
  record.settings = fmt::format(R"({{"padding":"{}"}})", std::string(std::hash<std::string>{}(name) % 100'000, 'x'));
  return record;
}

Writes registration(const std::string& name) {
  return {PutUpstream{record_of(name)}, PutSnapshot{snapshot(name, "tools")}, AppendChange{change(name)},
          AppendAudit{audit(name)}};
}

SqliteOptions options(const DataDirectory& directory) {
  return {.file = directory.file("proteus.db"), .retention = {}, .backlog = {}};
}

Task<> register_for_ever(SqliteStore& store, std::string prefix, int acknowledgements) {
  for (int i = 0;; ++i) {
    const std::string name = fmt::format("{}-{}", prefix, i);
    const auto written = co_await store.write(registration(name));
    if (!written) ::_exit(3);
    const std::string line = fmt::format("{} {}\n", name, written->changes.front());
    if (::write(acknowledgements, line.data(), line.size()) != static_cast<ssize_t>(line.size())) ::_exit(4);
  }
}

int victim(const char* path, const char* round) {
  const auto directory = DataDirectory::open(path);
  if (!directory) return 1;
  const auto store = SqliteStore::open(options(*directory), Sealer(pepper("pepper")));
  if (!store) return 2;
  boost::asio::io_context io(1);
  for (int i = 0; i < kAtOnce; ++i) {
    boost::asio::co_spawn(io, register_for_ever(**store, fmt::format("{}-{}", round, i), STDOUT_FILENO),
                          boost::asio::detached);
  }
  io.run();
  return 0;
}

// A process, and the end of the pipe through which it acknowledges.
struct Victim {
  pid_t pid = -1;
  UniqueFd acknowledgements;
};

Victim start(const std::filesystem::path& directory, int round) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  Victim started{.pid = -1, .acknowledgements = UniqueFd(ends[0])};
  const UniqueFd write_end(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
  std::array<std::string, 4> words = {"store_test", kVictim, directory.string(), std::to_string(round)};
  std::array<char*, 5> argv = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  const int failed = ::posix_spawn(&started.pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("the victim does not start");
  return started;
}

// Reads until there are `enough` lines; reads everything if there are fewer.
std::string read_lines(int fd, std::size_t enough) {
  std::string text;
  std::array<char, 4096> buffer{};
  while (static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) < enough) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

class CrashTest : public testing::Test {
 protected:
  // Starts a victim and kills it after about `lines` acknowledgements and `microseconds`. Remembers what it
  // acknowledged.
  void kill_one(int round, std::size_t lines, int microseconds) {
    Victim victim = start(path_, round);
    std::string text = read_lines(victim.acknowledgements.get(), lines);
    // A random delay: there is nothing to wait for.
    const timespec moment{.tv_sec = 0, .tv_nsec = microseconds * 1000L};
    if (microseconds > 0) ::ppoll(nullptr, 0, &moment, nullptr);
    ::kill(victim.pid, SIGKILL);
    text += read_lines(victim.acknowledgements.get(), SIZE_MAX);
    int status = 0;
    ::waitpid(victim.pid, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the victim ended by itself with " << WEXITSTATUS(status);
    remember(text);
  }

  void remember(std::string_view text) {
    // An unfinished last line was cut off by the kill, and acknowledges nothing.
    for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      const std::string_view line = text.substr(0, end);
      const auto space = line.find(' ');
      std::uint64_t number = 0;
      std::from_chars(line.data() + space + 1, line.data() + line.size(), number);
      EXPECT_TRUE(acknowledged_.emplace(number, line.substr(0, space)).second) << "given twice: " << number;
      text.remove_prefix(end + 1);
    }
  }

  void check() {
    const auto directory = DataDirectory::open(path_);
    ASSERT_TRUE(directory) << directory.error().message();
    const auto store = SqliteStore::open(options(*directory), Sealer(pepper("pepper")));
    ASSERT_TRUE(store) << store.error().message();
    std::set<std::string> registered;
    for (const auto& record : runner_.get((*store)->upstreams())) {
      EXPECT_EQ(record, record_of(record.name));
      registered.insert(record.name);
    }
    std::set<std::string> with_snapshot;
    for (const auto& record : runner_.get((*store)->snapshots()))
      with_snapshot.insert(record.upstream);
    EXPECT_EQ(with_snapshot, registered);
    std::set<std::string> audited;
    for (const auto& record : runner_.get((*store)->audits(SIZE_MAX, std::nullopt)))
      audited.insert(record.what);
    EXPECT_EQ(audited, registered);
    std::map<std::uint64_t, std::string> changes;
    for (const auto& record : runner_.get((*store)->changes(0, SIZE_MAX)).changes)
      changes.emplace(record.number, record.upstream);
    EXPECT_EQ(changes.size(), registered.size());
    for (const auto& [number, name] : acknowledged_) {
      EXPECT_TRUE(registered.contains(name)) << name << " was acknowledged and is lost";
      EXPECT_EQ(changes[number], name);
    }
  }

  Runner runner_;
  TemporaryDirectory temporary_;
  std::filesystem::path path_ = temporary_.path() / "data";
  std::map<std::uint64_t, std::string> acknowledged_;  // by the number of the change
};

// PRX-17, OPS-07, OPS-08
TEST_F(CrashTest, LosesNothingThatWasAcknowledgedAndLeavesNothingHalfDone) {
  constexpr unsigned kSeed = 20'260'728;
  std::mt19937 random(kSeed);
  std::uniform_int_distribution<std::size_t> lines(1, 40);
  std::uniform_int_distribution microseconds(0, 3000);
  for (int round = 0; round < 20 && !HasFailure(); ++round) {
    SCOPED_TRACE(fmt::format("round {} of seed {}", round, kSeed));
    // Kills every other victim at once: a store that acknowledges too early has not written yet.
    kill_one(round, lines(random), round % 2 == 0 ? 0 : microseconds(random));
    check();
  }
  EXPECT_GT(acknowledged_.size(), 20U);
}

}  // namespace
}  // namespace proteus::store::test

// The linker leaves GoogleTest's own main out if there is another.
int main(int argc, char** argv) {
  if (argc == 4 && argv[1] == std::string_view(proteus::store::test::kVictim)) {
    return proteus::store::test::victim(argv[2], argv[3]);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
