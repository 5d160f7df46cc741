#include "base/log/refusal_log.hpp"

#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/log/log.hpp"

namespace proteus {
namespace {

using namespace std::chrono_literals;

class RefusalLogTest : public testing::Test {
 protected:
  RefusalLogTest() {
    lines().clear();
    log::redirect([](std::string_view line) { lines().emplace_back(line); });
  }
  ~RefusalLogTest() override { log::redirect(nullptr); }

  static std::vector<std::string>& lines() {
    static std::vector<std::string> all;
    return all;
  }

  ManualClock clock;
  RefusalLog refusals{clock};
};

// OPS-10
TEST_F(RefusalLogTest, CountsByReasonAndWritesALineEach) {
  refusals.add({.reason = RefusalReason::token, .why = "not known", .peer = "192.0.2.1", .path = "/mcp"});
  refusals.add({.reason = RefusalReason::limit, .why = "too many", .principal = "ci"});
  EXPECT_EQ(refusals.count(RefusalReason::token), 1);
  EXPECT_EQ(refusals.count(RefusalReason::limit), 1);
  EXPECT_EQ(refusals.count(RefusalReason::origin), 0);
  ASSERT_EQ(lines().size(), 2);
  EXPECT_EQ(lines()[0], R"(info base: a request was refused reason=token why="not known" peer=192.0.2.1 path=/mcp)");
  EXPECT_EQ(lines()[1], R"(info base: a request was refused reason=limit why="too many" principal=ci)");
}

// OPS-10: endless rejected requests cause a bounded number of lines, and no line of another reason is lost.
TEST_F(RefusalLogTest, StrangersCannotFillTheDisk) {
  for (int i = 0; i < 100'000; ++i)
    refusals.add({.reason = RefusalReason::token});
  EXPECT_EQ(lines().size(), RefusalLog::kLinesPerMinute);
  EXPECT_EQ(refusals.count(RefusalReason::token), 100'000);

  refusals.add({.reason = RefusalReason::host});
  EXPECT_EQ(lines().size(), RefusalLog::kLinesPerMinute + 1);

  clock.advance(1min);
  refusals.add({.reason = RefusalReason::token});
  ASSERT_EQ(lines().size(), RefusalLog::kLinesPerMinute + 2);
  EXPECT_TRUE(lines().back().ends_with("reason=token unwritten=99990")) << lines().back();
}

TEST_F(RefusalLogTest, ControlCharactersOfStrangersAreEscapedAndLongPathsCut) {
  refusals.add({.reason = RefusalReason::context, .path = "/mcp/\n" + std::string(1000, 'x')});
  ASSERT_EQ(lines().size(), 1);
  EXPECT_FALSE(lines()[0].contains('\n'));
  EXPECT_LT(lines()[0].size(), 300);
}

}  // namespace
}  // namespace proteus
