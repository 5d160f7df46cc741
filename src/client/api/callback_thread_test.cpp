#include "client/api/callback_thread.hpp"

#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/test_run.hpp"
#include "client/api/host.hpp"

namespace proteus::client {
namespace {

using ::testing::HasSubstr;

// A thread whose first function blocks until the test lets it go on.
class BusyThread : public ::testing::Test {
 protected:
  BusyThread() {
    // The function owns both: it may still be setting a promise when the test has seen its value.
    const auto begun = std::make_shared<std::promise<void>>();
    thread->post(
        [begun, may_go_on = go_on.get_future().share()] {
          begun->set_value();
          may_go_on.wait();
        },
        0);
    begun->get_future().wait();
  }
  ~BusyThread() override { let_go(); }

  void let_go() {
    if (!std::exchange(is_free_, true)) go_on.set_value();
  }
  // Waits until the thread has run everything that was posted before.
  void finish() {
    let_go();
    const auto ended = std::make_shared<std::promise<void>>();
    while (thread->post([ended] { ended->set_value(); }, 0) == WaitingFunctions::kNone)
      std::this_thread::yield();
    ended->get_future().wait();
  }

  std::shared_ptr<boost::asio::io_context> shared_io = std::make_shared<boost::asio::io_context>(1);
  boost::asio::io_context& io = *shared_io;
  std::shared_ptr<CallbackThread> thread = std::make_shared<CallbackThread>("the server");
  std::promise<void> go_on;

 private:
  bool is_free_ = false;
};

// SEC-04
TEST_F(BusyThread, HoldsOnlySoManyFunctions) {
  std::size_t ran = 0;
  for (std::size_t i = 0; i < 3 * WaitingFunctions::kMost; ++i)
    thread->post([&] { ++ran; }, 0);
  finish();
  EXPECT_EQ(ran, WaitingFunctions::kMost);
}

// SEC-04
TEST_F(BusyThread, HoldsOnlySoManyBytes) {
  std::size_t ran = 0;
  for (int i = 0; i < 10; ++i)
    thread->post([&] { ++ran; }, WaitingFunctions::kMostBytes / 2);
  finish();
  EXPECT_EQ(ran, 2U);
}

TEST_F(BusyThread, AsksNothingWhenTooMuchWaits) {
  while (thread->post([] {}, 0) != WaitingFunctions::kNone) {
  }
  const auto answer =
      test::run(io, await_callback(thread, shared_io, []() -> Result<std::string> { return "yes"; }, 0));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind(), ErrorKind::exhausted);
}

TEST_F(BusyThread, AsksNothingThatNobodyWaitsForAnyMore) {
  bool asked = false;
  test::Started question(io, await_callback(
                                 thread, shared_io,
                                 [&]() -> Result<std::string> {
                                   asked = true;
                                   return "yes";
                                 },
                                 0));
  io.poll();
  question.cancel();
  test::run_until(io, [&] { return question.is_done(); });
  finish();
  EXPECT_FALSE(asked);
}

TEST_F(BusyThread, SurvivesWhateverIsThrown) {
  thread->post([] { throw 7; }, 0);
  thread->post([] { throw std::runtime_error("eight"); }, 0);
  finish();
  const auto answer = test::run(io, await_callback(thread, shared_io, []() -> Result<std::string> { throw 9; }, 0));
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message(), HasSubstr("a handler failed"));
}

TEST(CallingThread, ThrowsWhatACallbackThrewAfterTheCallHasEnded) {
  CallingThread calling;
  bool ended = false;
  bool ran = false;
  calling.post([] { throw std::runtime_error("seven"); }, 0);
  calling.post([&] { ran = true; }, 0);
  std::thread call([&] {
    ended = true;
    calling.finish();
  });
  EXPECT_THROW(calling.run(), std::runtime_error);
  call.join();
  EXPECT_TRUE(ended);
  EXPECT_FALSE(ran);
}

TEST(CallingThread, HoldsOnlySoManyFunctions) {  // SEC-04
  CallingThread calling;
  std::size_t ran = 0;
  for (std::size_t i = 0; i < 3 * WaitingFunctions::kMost; ++i)
    calling.post([&] { ++ran; }, 0);
  calling.finish();
  calling.run();
  EXPECT_EQ(ran, WaitingFunctions::kMost);
}

TEST(ErrorOf, SaysWhatWasThrown) {
  const auto thrown = [](const auto& what) { return error_of(std::make_exception_ptr(what)); };
  const boost::system::system_error aborted(boost::asio::error::operation_aborted);
  EXPECT_EQ(thrown(aborted).kind(), ErrorKind::cancelled);
  EXPECT_EQ(thrown(std::runtime_error("seven")).kind(), ErrorKind::internal);
  EXPECT_THAT(thrown(std::runtime_error("seven")).message(), HasSubstr("seven"));
  EXPECT_EQ(thrown(7).kind(), ErrorKind::internal);
}

}  // namespace
}  // namespace proteus::client
