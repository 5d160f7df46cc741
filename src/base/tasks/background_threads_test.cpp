#include "base/tasks/background_threads.hpp"

#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/testing/test_run.hpp"

namespace proteus {
namespace {

constexpr std::size_t kLarge = BackgroundThreads::kSmall + 1;

TEST(BackgroundThreads, DoLargeWorkElsewhereAndSmallWorkHere) {
  boost::asio::io_context io;
  BackgroundThreads threads(1);
  const auto here = std::this_thread::get_id();
  const auto where = [] { return std::this_thread::get_id(); };
  EXPECT_NE(test::run(io, threads.run(kLarge, where)), here);
  EXPECT_EQ(test::run(io, threads.run(BackgroundThreads::kSmall, where)), here);
}

TEST(BackgroundThreads, PassOnWhatIsThrown) {
  boost::asio::io_context io;
  BackgroundThreads threads(1);
  const auto fail = []() -> std::string { throw std::runtime_error("on purpose"); };
  EXPECT_THROW(test::run(io, threads.run(kLarge, fail)), std::runtime_error);
  EXPECT_EQ(test::run(io, threads.run(kLarge, [] { return std::string("next"); })), "next");
}

TEST(BackgroundThreads, GiveWayToOthers) {
  boost::asio::io_context io;
  BackgroundThreads threads(1);
  const auto nice = [] { return getpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid))); };
  EXPECT_GT(test::run(io, threads.run(kLarge, nice)), nice());
}

// Reports the thread that destroys it.
struct Ends {
  std::promise<std::thread::id> where;
  ~Ends() { where.set_value(std::this_thread::get_id()); }
};

TEST(BackgroundThreads, EndWhatIsLetGoOfElsewhere) {
  BackgroundThreads threads(1);
  auto value = std::make_shared<Ends>();
  auto ended = value->where.get_future();
  std::shared_ptr<const Ends> kept = threads.ending_here<const Ends>(std::move(value));
  kept = nullptr;
  EXPECT_NE(ended.get(), std::this_thread::get_id());
  EXPECT_EQ(threads.ending_here(std::shared_ptr<int>()), nullptr);
}

TEST(BackgroundThreads, AreOutlivedByWhatEndsThere) {
  std::optional<BackgroundThreads> threads(std::in_place, 1U);
  auto value = std::make_shared<Ends>();
  auto ended = value->where.get_future();
  auto kept = threads->ending_here(std::move(value));
  threads.reset();
  kept = nullptr;
  EXPECT_EQ(ended.get(), std::this_thread::get_id());
}

}  // namespace
}  // namespace proteus
