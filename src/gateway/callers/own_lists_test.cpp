#include "gateway/callers/own_lists.hpp"

#include <future>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

namespace proteus::gateway {
namespace {

using namespace std::chrono_literals;

class OwnListsOfACaller : public ::testing::Test {
 protected:
  // The result is ready when the wait has ended.
  std::future<void> wait(std::chrono::milliseconds most = 1h) {
    auto waiting = boost::asio::co_spawn(io_, OwnLists::caught_up(lists_, most), boost::asio::use_future);
    go_on();
    return waiting;
  }
  void go_on() {
    io_.restart();
    io_.poll();
  }
  static bool is_over(const std::future<void>& waiting) { return waiting.wait_for(0s) == std::future_status::ready; }

  boost::asio::io_context io_;
  std::shared_ptr<OwnLists> lists_ = std::make_shared<OwnLists>();
};

TEST_F(OwnListsOfACaller, AreWaitedForOnlyWhileAnAnnouncedChangeIsUnread) {
  EXPECT_TRUE(is_over(wait()));
  auto unread = OwnLists::fall_behind(lists_);
  const auto waiting = wait();
  EXPECT_FALSE(is_over(waiting));
  unread.reset();
  go_on();
  EXPECT_TRUE(is_over(waiting));
  EXPECT_FALSE(lists_->is_behind());
}

// An upstream may announce changes faster than they can be read.
TEST_F(OwnListsOfACaller, AreNotWaitedForWhenTheNextChangeIsAnnouncedDuringTheWait) {
  auto first = OwnLists::fall_behind(lists_);
  const auto early = wait();
  auto second = OwnLists::fall_behind(lists_);
  const auto late = wait();
  first.reset();
  go_on();
  EXPECT_TRUE(is_over(early));
  EXPECT_FALSE(is_over(late));
  EXPECT_TRUE(lists_->is_behind());
  second.reset();
  go_on();
  EXPECT_TRUE(is_over(late));
}

TEST_F(OwnListsOfACaller, AreWaitedForUntilEachUpstreamsChangesAreRead) {
  auto one = OwnLists::fall_behind(lists_);
  auto other = OwnLists::fall_behind(lists_);
  const auto waiting = wait();
  other.reset();
  go_on();
  EXPECT_FALSE(is_over(waiting));
  one.reset();
  go_on();
  EXPECT_TRUE(is_over(waiting));
}

TEST_F(OwnListsOfACaller, AreNotWaitedForForever) {
  const auto unread = OwnLists::fall_behind(lists_);
  const auto waiting = wait(1ms);
  io_.restart();
  io_.run();
  EXPECT_TRUE(is_over(waiting));
}

}  // namespace
}  // namespace proteus::gateway
