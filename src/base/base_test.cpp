#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>
#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/names.hpp"
#include "base/secret.hpp"
#include "base/strong.hpp"
#include "base/task_group.hpp"

namespace proteus {
namespace {

Task<> wait_for_ever() {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
  timer.expires_at(boost::asio::steady_timer::time_point::max());
  co_await timer.async_wait(boost::asio::use_awaitable);
}

Task<> fail() {
  throw std::runtime_error("on purpose");
  co_return;
}

Task<> wait_for(boost::asio::steady_timer& timer) {
  boost::system::error_code ignored;
  co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
}

Task<> cancel_and_join(TaskGroup& group, bool& joined) {
  group.cancel();
  co_await group.join();
  joined = true;
}

TEST(TaskGroup, CancelsAndAwaitsWhatItOwns) {
  boost::asio::io_context io;
  TaskGroup group(io.get_executor());
  for (int i = 0; i < 3; ++i)
    group.spawn("waiter", wait_for_ever());
  group.spawn("failing", fail());
  io.poll();
  EXPECT_EQ(group.size(), 3U);
  bool joined = false;
  boost::asio::co_spawn(io, cancel_and_join(group, joined), boost::asio::detached);
  io.run();
  EXPECT_TRUE(joined);
  EXPECT_EQ(group.size(), 0U);
}

// The coroutine that joins the tasks owns what they use.
TEST(TaskGroup, IsJoinedInFullByACancelledCoroutine) {
  boost::asio::io_context io;
  TaskGroup group(io.get_executor());
  boost::asio::steady_timer release(io, boost::asio::steady_timer::time_point::max());
  group.spawn("waiter", wait_for(release));
  boost::asio::cancellation_signal signal;
  bool left = false;
  boost::asio::co_spawn(io, group.join(),
                        boost::asio::bind_cancellation_slot(signal.slot(), [&](const std::exception_ptr& thrown) {
                          left = true;
                          EXPECT_TRUE(thrown);
                        }));
  io.poll();
  signal.emit(boost::asio::cancellation_type::terminal);
  io.poll();
  EXPECT_FALSE(left);
  release.cancel();
  io.run();
  EXPECT_TRUE(left);
}

Task<> throw_a_number() {
  throw 42;
  co_return;
}

TEST(TaskGroup, SurvivesATaskThatThrowsSomethingElseThanAnException) {
  boost::asio::io_context io;
  TaskGroup group(io.get_executor());
  group.spawn("thrower", throw_a_number());
  io.run();
  EXPECT_EQ(group.size(), 0U);
}

TEST(TaskGroup, CancelsATaskThatIsSpawnedAfterCancel) {
  boost::asio::io_context io;
  TaskGroup group(io.get_executor());
  group.cancel();
  group.spawn("late", wait_for_ever());
  io.run();
  EXPECT_EQ(group.size(), 0U);
}

TEST(Error, SaysWhereItHappened) {
  const Error error = errors::timeout("tools/list").within("upstream banking");
  EXPECT_EQ(error.message(), "upstream banking: tools/list timed out");
  EXPECT_EQ(error.kind(), ErrorKind::timeout);
}

TEST(Secret, HeadersAreRecognizedByTheWordsOfTheirName) {
  for (const char* secret :
       {"AUTHORIZATION", "Proxy-Authorization", "cookie", "Set-Cookie", "X-Admin-Secret", "X-Api-Key", "X-Auth-Token",
        "x-apikey", "X_Session", "X-Amz-Security-Token", "X-Hub-Signature"}) {
    EXPECT_TRUE(is_secret_header(secret)) << secret;
  }
  for (const char* plain : {"X-Author", "X-Tenant", "Accept", "X-Keyboard", "X-Sessions-Per-Page", ""}) {
    EXPECT_FALSE(is_secret_header(plain)) << plain;
  }
}

TEST(Secret, LeavesNothingBehindWhenItIsMoved) {
  Secret first(std::string("0123456789"));
  const char* const memory = first.reveal().data();
  const Secret second(std::move(first));
  EXPECT_EQ(second.reveal(), "0123456789");
  EXPECT_EQ(std::string_view(memory, 10), std::string_view("\0\0\0\0\0\0\0\0\0\0", 10));
}

TEST(DisplayName, MayBeOfAnyScriptAndMisleadNobody) {
  // Persian separates the parts of a word by a non-joiner, and emoji are joined.
  for (const char* good : {"Dynamic Banking – 銀行", "می\u200cخواهم", "👩\u200d💻", "שלום"})
    EXPECT_TRUE(check_display_name(good)) << good;
  for (const char* bad : {"a\u202eb", "a\u200eb", "a\u061cb", "zero\u200bwidth", "a\u2060b", "tag\U000e0041", "a\nb",
                          "\xff", "\xc3", "a\u2028b", "\x7f"})
    EXPECT_FALSE(check_display_name(bad)) << bad;
  EXPECT_FALSE(check_display_name(std::string(201, 'a')));
}

TEST(ManualClock, MovesOnlyWhenTold) {
  ManualClock clock;
  const auto before = clock.now();
  EXPECT_EQ(clock.now(), before);
  clock.advance(std::chrono::seconds(5));
  EXPECT_EQ(clock.now() - before, std::chrono::seconds(5));
}

}  // namespace
}  // namespace proteus
