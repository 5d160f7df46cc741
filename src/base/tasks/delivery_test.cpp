#include "base/tasks/delivery.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "base/tasks/batch_thread.hpp"
#include "base/testing/test_run.hpp"

namespace proteus {
namespace {

namespace asio = boost::asio;

TEST(Delivery, ResumesTheCoroutineOnItsOwnThread) {
  asio::io_context io;
  auto delivery = std::make_shared<Delivery<std::string>>();
  test::Started<std::string> waiting(io, Delivery<std::string>::receive(delivery));
  test::settle(io);
  EXPECT_FALSE(waiting.is_done());
  std::thread other([delivery] { delivery->deliver("found out"); });
  EXPECT_EQ(waiting.finish(), "found out");
  other.join();
}

TEST(Delivery, MayComeBeforeAnybodyWaits) {
  asio::io_context io;
  auto delivery = std::make_shared<Delivery<int>>();
  delivery->deliver(7);
  EXPECT_EQ(test::run(io, Delivery<int>::receive(delivery)), 7);
}

TEST(Delivery, IsDroppedWhereTheCoroutineWasCancelled) {
  asio::io_context io;
  auto delivery = std::make_shared<Delivery<int>>();
  test::Started<int> waiting(io, Delivery<int>::receive(delivery));
  test::settle(io);
  waiting.cancel();
  EXPECT_THROW(waiting.finish(), boost::system::system_error);
  delivery->deliver(7);
  test::settle(io);
}

TEST(Delivery, IsWaitedForUntilThenAndDroppedLater) {
  asio::io_context io;
  auto delivery = std::make_shared<Delivery<int>>();
  const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
  EXPECT_EQ(test::run(io, Delivery<int>::receive_until(delivery, soon)), std::nullopt);
  delivery->deliver(7);
  EXPECT_EQ(test::run(io, Delivery<int>::receive_until(delivery, soon)), 7);
}

TEST(Delivery, IsDroppedWhereTheContextIsGone) {
  auto io = std::make_unique<asio::io_context>();
  auto delivery = std::make_shared<Delivery<int>>();
  auto waiting = std::make_unique<test::Started<int>>(*io, Delivery<int>::receive(delivery));
  test::settle(*io);
  io.reset();
  delivery->deliver(7);
}

TEST(Delivery, RacesWithCancellationsAndContextsThatEnd) {
  for (int round = 0; round < 200; ++round) {
    auto io = std::make_unique<asio::io_context>(1);
    auto delivery = std::make_shared<Delivery<int>>();
    auto waiting = std::make_unique<test::Started<int>>(*io, Delivery<int>::receive(delivery));
    std::thread other([delivery] { delivery->deliver(7); });
    test::settle(*io);
    if (round % 3 == 0) waiting->cancel();
    if (round % 3 == 1) test::settle(*io);
    io.reset();
    other.join();
  }
}

TEST(BatchThread, WorksTogetherOnWhatWaited) {
  std::promise<void> release;
  std::vector<std::vector<int>> batches;
  std::promise<void> started;
  {
    BatchThread<int> thread({}, [&](std::vector<int> batch) {
      batches.push_back(std::move(batch));
      if (batches.size() > 1) return;
      started.set_value();
      release.get_future().wait();
    });
    EXPECT_EQ(thread.post(1, 0), Posted::yes);
    started.get_future().wait();
    for (int item = 2; item < 5; ++item)
      EXPECT_EQ(thread.post(int{item}, 0), Posted::yes);
    release.set_value();
  }
  EXPECT_EQ(batches, (std::vector<std::vector<int>>{{1}, {2, 3, 4}}));
}

TEST(BatchThread, RestsOnceAfterItsWork) {
  std::atomic<int> worked = 0;
  std::atomic<int> rested = 0;
  std::promise<void> resting;
  std::promise<void> resting_again;
  BatchThread<int> thread(
      {}, [&](const std::vector<int>&) { ++worked; }, [&] { (++rested == 1 ? resting : resting_again).set_value(); },
      std::chrono::milliseconds(1));
  EXPECT_EQ(thread.post(1, 0), Posted::yes);
  resting.get_future().wait();
  EXPECT_EQ(worked, 1);
  EXPECT_EQ(thread.post(2, 0), Posted::yes);
  resting_again.get_future().wait();
  EXPECT_EQ(worked, 2);
  thread.stop();
  EXPECT_EQ(rested, 2);
}

TEST(BatchThread, RefusesWhatIsTooMuchAndWhatIsTooLate) {
  std::promise<void> release;
  std::promise<void> started;
  bool first = true;
  BatchThread<int> thread({.items = 2, .bytes = 100}, [&](const std::vector<int>&) {
    if (!std::exchange(first, false)) return;
    started.set_value();
    release.get_future().wait();
  });
  EXPECT_EQ(thread.post(1, 0), Posted::yes);
  started.get_future().wait();
  EXPECT_EQ(thread.post(2, 1000), Posted::yes);
  EXPECT_EQ(thread.post(3, 1), Posted::full);
  release.set_value();
  thread.stop();
  EXPECT_EQ(thread.post(4, 0), Posted::stopped);
}

}  // namespace
}  // namespace proteus
