#include <algorithm>
#include <csignal>

#include "net/testing/allocated_bytes.hpp"
#include "net/testing/process_fixture.hpp"

// A child's input.
namespace proteus::net::test {
namespace {

Task<Result<>> write_text(Process& process, std::string text) {
  const std::string_view view = text;
  co_return co_await process.write(std::span(&view, 1));
}

TEST_F(ProcessTest, HoldsBackWritersWhileTheChildDoesNotRead) {
  const std::string large(300'000, 'x');  // more than a pipe takes
  Process stuck = start({"sleep", "1000"}, {.max_queued_bytes = 1000});
  ASSERT_TRUE(write(stuck, large));
  Started waiting(*io_, write_text(stuck, "more"));
  settle(*io_);
  EXPECT_FALSE(waiting.result);
  waiting.cancel();
  run_until(*io_, [&] { return waiting.result.has_value(); });
  ASSERT_FALSE(*waiting.result);
  EXPECT_EQ(waiting.result->error().kind(), ErrorKind::cancelled);

  Process cat = start({"cat"}, {.max_queued_bytes = 1000});
  Started first(*io_, write_text(cat, large + "\n"));
  Started second(*io_, write_text(cat, large + "\n"));
  EXPECT_EQ(read(cat).size(), large.size());
  EXPECT_EQ(read(cat).size(), large.size());
  EXPECT_TRUE(first.result && *first.result);
  EXPECT_TRUE(second.result && *second.result);
}

Task<Result<>> write_lines(Process& process, std::string line, std::size_t count) {
  const std::string_view view = line;
  for (std::size_t i = 0; i < count; ++i) {
    if (auto written = co_await process.write(std::span(&view, 1)); !written) co_return written;
  }
  co_return Result<>{};
}

// The queue never runs empty: a writer goes on as soon as there is room again.
TEST_F(ProcessTest, KeepsNothingThatTheChildHasTakenWhileSeveralWrite) {
  constexpr std::size_t kLine = 300'000;
  constexpr std::size_t kLines = 50;
  Process cat = start({"cat"}, {.max_queued_bytes = 200'000});
  Started one(*io_, write_lines(cat, std::string(kLine, 'x') + "\n", kLines));
  Started two(*io_, write_lines(cat, std::string(kLine, 'y') + "\n", kLines));
  const std::size_t before = allocated_bytes();
  std::size_t most = 0;
  for (std::size_t i = 0; i < 2 * kLines; ++i) {
    ASSERT_EQ(read(cat).size(), kLine);
    most = std::max(most, allocated_bytes());
  }
  EXPECT_TRUE(one.finish() && two.finish());
  EXPECT_LT(most, before + kLines * kLine / 2);
}

TEST_F(ProcessTest, WakesAWaitingWriterWhenTheChildDies) {
  Process stuck = start({"sleep", "1000"}, {.max_queued_bytes = 1000});
  ASSERT_TRUE(write(stuck, std::string(300'000, 'x')));
  Started waiting(*io_, write_text(stuck, "more"));
  settle(*io_);
  ::kill(stuck.pid(), SIGKILL);
  run_until(*io_, [&] { return waiting.result.has_value(); });
  ASSERT_FALSE(*waiting.result);
  EXPECT_EQ(waiting.result->error().kind(), ErrorKind::unreachable);
}

}  // namespace
}  // namespace proteus::net::test
