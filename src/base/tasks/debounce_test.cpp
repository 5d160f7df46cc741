#include "base/tasks/debounce.hpp"

#include <gtest/gtest.h>

namespace proteus {
namespace {

using namespace std::chrono_literals;

TEST(Debounce, ActsAtOnceAndThenOncePerWindow) {
  const Clock::Monotonic start(1h);
  Debounce debounce(200ms);
  EXPECT_EQ(debounce.wait(start), 0ms) << "nothing came before";
  debounce.act(start);
  EXPECT_EQ(debounce.wait(start + 50ms), 150ms);
  EXPECT_EQ(debounce.due(start + 199ms), start + 200ms);
  EXPECT_EQ(debounce.wait(start + 200ms), 0ms);
  EXPECT_EQ(debounce.due(start + 1s), start + 1s);
}

TEST(Debounce, WaitsForNothingWithoutAWindow) {
  const Clock::Monotonic start(1h);
  const Debounce debounce(0ms, start);
  EXPECT_EQ(debounce.wait(start), 0ms);
}

}  // namespace
}  // namespace proteus
