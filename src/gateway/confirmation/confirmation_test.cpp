#include "gateway/confirmation/confirmation.hpp"

#include <gtest/gtest.h>

#include "base/testing/test_run.hpp"

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
  // Plays a modern client: its call is asked about, and its retry agrees.
  void confirm(const std::string& principal) { agree(principal, question_for(principal)); }

  // Returns the state of the question.
  std::string question_for(const std::string& principal) {
    const server::Caller caller{.principal = principal};
    const mcp::Request request;
    NoChannel channel(io_.get_executor());
    server::Call asked(request, caller, channel);
    return std::get<mcp::InputRequired>(ask(asked)).state;
  }
  void agree(const std::string& principal, const std::string& state) {
    const server::Caller caller{.principal = principal};
    const mcp::Request request;
    NoChannel channel(io_.get_executor());
    server::Call answered(request, caller, channel);
    answered.rounds() = {.round = 1,
                         .answers = {{"confirmation", R"({"action":"accept","content":{"confirmed":true}})"}},
                         .state = state};
    ask(answered);
  }
  // Plays a retry without an answer, which asks again.
  bool is_asked_again(const std::string& principal, const std::string& state) {
    const server::Caller caller{.principal = principal};
    const mcp::Request request;
    NoChannel channel(io_.get_executor());
    server::Call call(request, caller, channel);
    call.rounds() = {.round = 1, .answers = {}, .state = state};
    return std::holds_alternative<mcp::InputRequired>(ask(call));
  }

  ManualClock clock_;
  Confirmations confirmations_{clock_, {.decided = 5, .of_one = 2}};
  int runs_ = 0;

 private:
  std::variant<mcp::Reply, mcp::InputRequired> ask(server::Call& call) {
    const Confirmations::Run run = [this]() -> Task<mcp::Outcome> {
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

// SES-12, PRO-10: the sealed state expires by the wall clock, which may be set back.
TEST_F(ConfirmationLimits, RunNothingTwiceHoweverOldTheStateIs) {
  const std::string state = question_for("ada");
  agree("ada", state);
  EXPECT_EQ(runs_, 1);
  for (int minutes = 0; minutes < 30; ++minutes) {
    clock_.advance(1min);
    agree("ada", state);
    question_for("other");
  }
  EXPECT_EQ(runs_, 1);
  EXPECT_EQ(confirmations_.remembered(), 0U);
}

// SES-12, PRO-10: a later question must not keep this one open after its decision was forgotten.
TEST_F(ConfirmationLimits, RememberADecisionUntilItsQuestionIsClosed) {
  const std::string state = question_for("ada");
  agree("ada", state);
  clock_.advance(5min);
  question_for("other");
  clock_.advance(6min + 1s);
  agree("ada", state);
  EXPECT_EQ(runs_, 1);
  clock_.advance(30s);
  agree("ada", state);
  EXPECT_EQ(runs_, 1);
  EXPECT_EQ(confirmations_.remembered(), 0U);
}

// The new state would be good for longer than the decision is remembered.
TEST_F(ConfirmationLimits, AskNobodyAgainWhoHasDecided) {
  const std::string state = question_for("ada");
  EXPECT_TRUE(is_asked_again("ada", state));
  agree("ada", state);
  EXPECT_FALSE(is_asked_again("ada", state));
  const std::string old = question_for("ada");
  clock_.advance(12min);
  EXPECT_FALSE(is_asked_again("ada", old)) << "the answer would come too late";
}

TEST_F(ConfirmationLimits, LeaveAQuestionOpenForAsLongAsItsStateIsGood) {
  std::vector<std::string> states;
  for (int i = 0; i < 20; ++i) {
    states.push_back(question_for("ada"));
    clock_.advance(30s);
  }
  agree("ada", states.front());
  EXPECT_EQ(runs_, 1) << "ten minutes";
  clock_.advance(2min);
  agree("ada", states.front());
  agree("ada", states.at(1));
  EXPECT_EQ(runs_, 1) << "twelve";
  agree("ada", states.back());
  EXPECT_EQ(runs_, 2);
}

TEST_F(ConfirmationLimits, HoldForAllTogether) {
  for (const char* principal : {"a", "a", "b", "b", "c", "d"})
    confirm(principal);
  EXPECT_EQ(runs_, 5);
}

// REP-11: the process that knows which rounds were run gets the retry.
TEST(ConfirmedCallThatGoesOn, NamesItsProcess) {
  ManualClock clock;
  const ProcessKey process = process_key_of("one");
  Confirmations confirmations(clock, process);
  EXPECT_EQ(Confirmations::holder_of(confirmations.state_to_go_on("digest", "upstream:state")), process);
}

}  // namespace
}  // namespace proteus::gateway
