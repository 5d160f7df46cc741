#include "base/log/stranger_log.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace proteus {
namespace {

using namespace std::chrono_literals;

class StrangerLogTest : public testing::Test {
 protected:
  StrangerLogTest() {
    lines().clear();
    log::redirect([](std::string_view line) { lines().emplace_back(line); });
  }
  ~StrangerLogTest() override { log::redirect(nullptr); }

  static std::vector<std::string>& lines() {
    static std::vector<std::string> all;
    return all;
  }

  ManualClock clock;
  std::optional<StrangerLog> stranger{std::in_place, "upstream up", clock};
};

// OPS-10: each line names its cause, and the first line after the limit states how many were omitted.
TEST_F(StrangerLogTest, WritesSoManyAMinuteAndSaysHowManyItLeftOut) {
  for (int i = 0; i < 100'000; ++i)
    stranger->warning("ignored: {}", i);
  ASSERT_EQ(lines().size(), StrangerLog::kLinesPerMinute);
  EXPECT_EQ(lines().front(), "warning base: upstream up: ignored: 0");

  clock.advance(1min);
  stranger->note(log::Level::info, "is back");
  ASSERT_EQ(lines().size(), StrangerLog::kLinesPerMinute + 1);
  EXPECT_EQ(lines().back(), "info base: upstream up is back unwritten=99880");
  stranger->event(log::Level::info, "a request failed", {{"upstream", "up"}, {"error", "a\nb"}});
  EXPECT_EQ(lines().back(), R"(info base: a request failed upstream=up error="a\\x0ab")");
}

TEST_F(StrangerLogTest, SaysAtItsEndWhatNoLineHasToldOf) {
  for (unsigned i = 0; i < StrangerLog::kLinesPerMinute + 7; ++i)
    stranger->info("x");
  stranger.reset();
  EXPECT_EQ(lines().size(), StrangerLog::kLinesPerMinute + 1);
  EXPECT_EQ(lines().back(), "info base: upstream up: 7 more lines about it are left out");
}

TEST_F(StrangerLogTest, WritesOnlyWhatCanBeSeenAndNotMuchOfIt) {
  stranger->info("{}", "\x1b[2J" + std::string(1'000'000, 'x'));
  EXPECT_TRUE(lines().back().starts_with(R"(info base: upstream up: \x1b[2Jxxx)")) << lines().back();
  EXPECT_LT(lines().back().size(), StrangerLog::kMaxLine + 100);
}

TEST_F(StrangerLogTest, CountsNoLineWhoseLevelIsOff) {
  for (int i = 0; i < 1000; ++i)
    stranger->debug("x");
  stranger->info("y");
  EXPECT_EQ(lines().size(), 1);
  EXPECT_EQ(lines().back(), "info base: upstream up: y");
}

}  // namespace
}  // namespace proteus
