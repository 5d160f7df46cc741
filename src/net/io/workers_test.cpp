#include "net/io/workers.hpp"

#include <ctime>
#include <functional>
#include <future>
#include <memory>
#include <set>
#include <stdexcept>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <gtest/gtest.h>

namespace proteus::net {
namespace {

std::thread::id thread_of(boost::asio::io_context& context) {
  std::promise<std::thread::id> promise;
  auto future = promise.get_future();
  boost::asio::post(context, [&] { promise.set_value(std::this_thread::get_id()); });
  return future.get();
}

TEST(Workers, RunEachContextOnAThreadOfItsOwn) {
  Workers workers(3);
  workers.run();
  std::set<std::thread::id> ids;
  for (std::size_t i = 0; i < workers.size(); ++i)
    ids.insert(thread_of(workers.at(i)));
  EXPECT_EQ(ids.size(), 3U);
  EXPECT_EQ(thread_of(workers.at(1)), thread_of(workers.at(1)));
}

TEST(Workers, AreTakenInTurn) {
  Workers workers(2);
  auto& first = workers.next();
  auto& second = workers.next();
  EXPECT_NE(&first, &second);
  EXPECT_EQ(&workers.next(), &first);
}

TEST(Workers, KnowWhichOfThemAsks) {
  Workers workers(2);
  const Workers others(1);
  workers.run();
  for (std::size_t i = 0; i < workers.size(); ++i) {
    std::promise<std::size_t> promise;
    boost::asio::post(workers.at(i), [&] {
      EXPECT_THROW((void)others.here(), std::logic_error);
      promise.set_value(workers.here());
    });
    EXPECT_EQ(promise.get_future().get(), i);
  }
  EXPECT_THROW((void)workers.here(), std::logic_error);
}

// What two workers share may be released by a handler that neither of them calls any more.
TEST(Workers, DestroyAHandlerOfOneThatOwnsATimerOfAnother) {
  for (const std::size_t owner : {0U, 1U}) {
    Workers workers(2);
    auto timer = std::make_shared<boost::asio::steady_timer>(workers.at(owner));
    boost::asio::post(workers.at(1 - owner), [timer = std::move(timer)] {});
  }
}

TEST(Workers, SurviveAHandlerThatThrows) {
  Workers workers(1);
  workers.run();
  boost::asio::post(workers.at(0), [] { throw std::runtime_error("on purpose"); });
  EXPECT_NE(thread_of(workers.at(0)), std::thread::id());
  workers.stop();
  workers.join();
}

constexpr std::chrono::milliseconds kThreshold{50};

// CPU time of the calling thread.
std::chrono::nanoseconds spent() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Uses CPU time until `ends()` holds, or for so long that the test has failed.
void work_until(const std::function<bool()>& ends) {
  const auto limit = spent() + std::chrono::seconds(20);
  while (!ends() && spent() < limit) {
  }
}

TEST(WorkersUnderWatch, CountOneHandlerThatKeepsItsThreadOnce) {
  Workers workers(2);
  workers.run();
  workers.watch_stalls(kThreshold);
  boost::asio::post(workers.at(1), [&] {
    work_until([&] { return workers.stalls() > 0; });
    const auto later = spent() + 3 * kThreshold;
    work_until([&] { return spent() > later; });
  });
  thread_of(workers.at(1));
  EXPECT_EQ(workers.stalls(), 1U);
  boost::asio::post(workers.at(1), [&] { work_until([&] { return workers.stalls() > 1; }); });
  thread_of(workers.at(1));
  EXPECT_EQ(workers.stalls(), 2U);
}

TEST(WorkersUnderWatch, DoNotCountManyShortHandlers) {
  Workers workers(1);
  workers.run();
  workers.watch_stalls(kThreshold);
  std::promise<void> done;
  std::function<void()> step = [&] {
    const auto next = spent() + std::chrono::milliseconds(1);
    work_until([&] { return spent() > next; });
    if (spent() > 6 * kThreshold) return done.set_value();
    boost::asio::post(workers.at(0), step);
  };
  boost::asio::post(workers.at(0), step);
  done.get_future().get();
  EXPECT_EQ(workers.stalls(), 0U);
}

}  // namespace
}  // namespace proteus::net
