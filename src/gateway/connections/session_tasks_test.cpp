#include "gateway/connections/session_tasks.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace proteus::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// TSK-01
TEST(SessionTasks, KnowsATaskByItsUpstreamAndItsId) {
  SessionTasks tasks;
  tasks.add("one", "a", "1");
  tasks.add("two", "b", "1");
  EXPECT_EQ(tasks.shown("a", "1"), "one");
  EXPECT_EQ(tasks.shown("b", "1"), "two");
  EXPECT_EQ(tasks.shown("a", "2"), std::nullopt);
  tasks.remove("one");
  EXPECT_EQ(tasks.shown("a", "1"), std::nullopt);
}

TEST(SessionTasks, ArePagedInTheOrderInWhichTheyCame) {
  SessionTasks tasks;
  for (const auto* const id : {"c", "a", "b", "a"})
    tasks.add(id, "up", id);
  const auto first = tasks.after(0, 2);
  EXPECT_THAT(first.ids, ElementsAre("c", "a"));
  EXPECT_TRUE(first.more);
  tasks.remove("a");
  const auto rest = tasks.after(first.last, 2);
  EXPECT_THAT(rest.ids, ElementsAre("b")) << "also if the last one of the page before is gone";
  EXPECT_FALSE(rest.more);
  EXPECT_THAT(tasks.after(rest.last, 2).ids, IsEmpty());
}

TEST(SessionTasks, AreBounded) {
  SessionTasks tasks;
  for (std::size_t i = 0; i <= SessionTasks::kMost; ++i)
    tasks.add(fmt::format("{}", i), "up", fmt::format("{}", i));
  EXPECT_EQ(tasks.after(0, 2 * SessionTasks::kMost).ids.size(), SessionTasks::kMost);
  EXPECT_EQ(tasks.shown("up", "0"), std::nullopt) << "the oldest is forgotten";
}

}  // namespace
}  // namespace proteus::gateway
