#include "gateway/confirmation.hpp"

#include <gtest/gtest.h>

#include "base/test_run.hpp"

namespace proteus::gateway {
namespace {

using namespace std::chrono_literals;

class NoChannel final : public server::CallChannel {
 public:
  explicit NoChannel(const Executor& executor) : cancellation_(executor) {}
  void send(std::string) override {}
  void release(std::chrono::milliseconds) override {}
  server::Cancellation& cancellation() override { return cancellation_; }

 private:
  server::Cancellation cancellation_;
};

class ConfirmationLimits : public ::testing::Test {
 protected:
  // A modern client's two tries: it is asked, and agrees.
  void confirm(const std::string& principal) {
    const server::Caller caller{.principal = principal};
    const mcp::Request request;
    NoChannel channel(io_.get_executor());
    server::Call asked(request, caller, channel);
    const auto question = ask(asked);
    server::Call answered(request, caller, channel);
    answered.rounds() = {.round = 1,
                         .answers = {{"confirmation", R"({"action":"accept","content":{"confirmed":true}})"}},
                         .state = std::get<mcp::InputRequired>(question).state};
    ask(answered);
  }

  ManualClock clock_;
  Confirmations confirmations_{clock_, {.decided = 5, .of_one = 2}};
  int runs_ = 0;

 private:
  std::variant<mcp::Reply, mcp::InputRequired> ask(server::Call& call) {
    const Confirmations::Run run = [this]() -> Task<mcp::Reply> {
      ++runs_;
      co_return mcp::Reply();
    };
    return proteus::test::run(io_, confirmations_.ask_first(call, {"drop", ""}, run)).value();
  }

  boost::asio::io_context io_;
};

TEST_F(ConfirmationLimits, LeaveRoomForOthersWhereOneHasConfirmedTooMuch) {
  for (int i = 0; i < 3; ++i)
    confirm("greedy");
  EXPECT_EQ(runs_, 2);
  confirm("other");
  EXPECT_EQ(runs_, 3);
  clock_.advance(12min);
  confirm("greedy");
  EXPECT_EQ(runs_, 4) << "what is long ago does not count";
  EXPECT_EQ(confirmations_.remembered(), 1U);
}

TEST_F(ConfirmationLimits, HoldForAllTogether) {
  for (const char* principal : {"a", "a", "b", "b", "c", "d"})
    confirm(principal);
  EXPECT_EQ(runs_, 5);
}

}  // namespace
}  // namespace proteus::gateway
