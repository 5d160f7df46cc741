// UPC-05: retries of modern calls that were asked to sign in.
#include "gateway/sign_in/sign_in_questions.hpp"

#include <gtest/gtest.h>

#include "base/testing/test_run.hpp"
#include "gateway/testing/silent_channel.hpp"

namespace proteus::gateway {
namespace {

class SignInQuestionsTest : public ::testing::Test {
 protected:
  using Answered = std::optional<mcp::Outcome>;

  SignInQuestionsTest() {
    auto issued = *tickets_.issue({.person = {Person::Kind::user, "ada"}, .upstream = "notes"});
    ticket_ = issued.ticket;
    text_ = issued.text;
    state_ = "connect:17:" + ticket_.id + ":" + text_;
    request_.method = mcp::find_method(mcp::Era::modern, mcp::Sender::client, "tools/call");
  }

  // Returns the questions of a process.
  SignInQuestions questions_of(AwaitedSignIns& awaited, ProcessKey process) {
    return SignInQuestions({tickets_, awaited, [] { return "https://gateway.example"; },
                            [](const GrantOwner&, const GrantTarget&) { return GrantPointer(); }, std::move(process)},
                           std::chrono::milliseconds(0));
  }
  // Returns what a retry with this answer gets; nothing if the call goes on.
  Answered come_back(std::string_view answer, server::Rounds* left = nullptr) {
    return come_back_to(questions_, answer, left);
  }
  Answered come_back_to(SignInQuestions& questions, std::string_view answer, server::Rounds* left = nullptr) {
    server::Call call(request_, caller_, channel_);
    call.rounds() = {.round = 1, .answers = {}, .state = state_};
    if (!answer.empty()) call.rounds().answers.emplace("connect", answer);
    EXPECT_TRUE(questions.has_asked(call));
    auto answered = ::proteus::test::run(io_, questions.come_back(call));
    if (left != nullptr) *left = call.rounds();
    return answered;
  }
  static std::string text_of(const Answered& answered) { return std::get<mcp::Reply>(answered->value()).members.str(); }

  boost::asio::io_context io_;
  ManualClock clock_;
  Tickets tickets_{SealingKey::random(), clock_};
  bool is_connected_ = false;
  AwaitedSignIns awaited_{clock_, [this](const Ticket& ticket) { return is_connected_ && ticket.upstream == "notes"; }};
  SignInQuestions questions_ = questions_of(awaited_, {});
  Ticket ticket_;
  std::string text_;
  std::string state_;
  mcp::Request request_;
  server::Caller caller_{.principal = "ada"};
  SilentChannel channel_{io_.get_executor()};
};

constexpr std::string_view kAccept = R"({"action":"accept"})";

TEST_F(SignInQuestionsTest, AcceptingIsNotHavingSignedIn) {
  const auto answered = come_back(kAccept);
  ASSERT_TRUE(answered && *answered);
  const auto& required = std::get<mcp::InputRequired>(**answered);
  EXPECT_EQ(required.state, state_);
  EXPECT_TRUE(required.requests.at(0).params.contains("https://gateway.example/connect/" + text_));
  EXPECT_TRUE(required.requests.at(0).params.contains(R"("mode":"url")"));
}

TEST_F(SignInQuestionsTest, WhoHasSignedInGoesOnOnce) {
  awaited_.ended(ticket_, SignInEnd::connected);
  server::Rounds left;
  EXPECT_FALSE(come_back(kAccept, &left));
  EXPECT_EQ(left.state, "");
  EXPECT_TRUE(left.answers.empty());
  const auto again = come_back(kAccept);
  ASSERT_TRUE(again && *again);
  EXPECT_TRUE(text_of(again).contains("already gone on"));
}

TEST_F(SignInQuestionsTest, DecliningAndCancellingAreAnswered) {
  EXPECT_TRUE(text_of(come_back(R"({"action":"decline"})")).contains("declined"));
  EXPECT_TRUE(text_of(come_back(R"({"action":"cancel"})")).contains("dismissed"));
  EXPECT_TRUE(text_of(come_back("7")).contains("dismissed"));
  awaited_.ended(ticket_, SignInEnd::declined);
  EXPECT_TRUE(text_of(come_back(kAccept)).contains("decided on the page"));
}

TEST_F(SignInQuestionsTest, WhoDoesNotAnswerIsAskedAgain) {
  const auto answered = come_back("");
  ASSERT_TRUE(answered && *answered);
  EXPECT_EQ(std::get<mcp::InputRequired>(**answered).state, state_);
}

// UPC-05: the link counts as used once its person departs for the authorization server, where a sign-in may take
// minutes.
TEST_F(SignInQuestionsTest, WhoIsStillSigningInIsWaitedFor) {
  EXPECT_TRUE(tickets_.use(ticket_));
  const auto answered = come_back(kAccept);
  ASSERT_TRUE(answered && *answered);
  EXPECT_EQ(std::get<mcp::InputRequired>(**answered).state, state_);
  awaited_.ended(ticket_, SignInEnd::connected);
  EXPECT_FALSE(come_back(kAccept));
}

// After the link has expired, the call itself finds out whether it may run.
TEST_F(SignInQuestionsTest, AfterTheLinkHasExpiredTheCallGoesOn) {
  clock_.advance(Tickets::kLifetime);
  EXPECT_FALSE(come_back(kAccept));
}

TEST_F(SignInQuestionsTest, AWaitingCallIsWokenByTheEnd) {
  ::proteus::test::Started<std::optional<SignInEnd>> waiting(
      io_, awaited_.wait(ticket_, channel_.cancellation(), std::chrono::hours(1)));
  io_.poll();
  EXPECT_FALSE(waiting.is_done());
  awaited_.ended(ticket_, SignInEnd::connected);
  EXPECT_EQ(waiting.finish(), SignInEnd::connected);
}

TEST_F(SignInQuestionsTest, AWaitingCallEndsWithItsClient) {
  ::proteus::test::Started<std::optional<SignInEnd>> waiting(
      io_, awaited_.wait(ticket_, channel_.cancellation(), std::chrono::hours(1)));
  io_.restart();
  io_.poll();
  channel_.cancellation().fire();
  EXPECT_EQ(waiting.finish(), std::nullopt);
}

// REP-03: the sign-in ended at another process, which knows nothing of this call.
TEST_F(SignInQuestionsTest, WhoHasSignedInElsewhereGoesOn) {
  is_connected_ = true;
  EXPECT_FALSE(come_back(kAccept));
}

// REP-11, UPC-05: a retry that is sent twice reaches two processes, which both know of the grant.
TEST_F(SignInQuestionsTest, OnlyTheProcessThatAskedGoesOn) {
  is_connected_ = true;
  const ProcessKey asker = process_key_of("the one that asked");
  AwaitedSignIns awaited_elsewhere(clock_, [](const Ticket&) { return true; });
  SignInQuestions here = questions_of(awaited_, asker);
  SignInQuestions elsewhere = questions_of(awaited_elsewhere, process_key_of("another one"));
  EXPECT_EQ(elsewhere.holder_of(state_), ProcessKey()) << "it was asked outside of a cluster";
  state_ = "connect:" + to_text(asker) + ".17:" + ticket_.id + ":" + text_;
  EXPECT_EQ(elsewhere.holder_of(state_), asker);
  EXPECT_FALSE(come_back_to(here, kAccept));
  const auto refused = come_back_to(elsewhere, kAccept);
  ASSERT_TRUE(refused && *refused);
  EXPECT_TRUE(text_of(refused).contains("nobody can tell whether the call ran"));
}

// REP-03
TEST_F(SignInQuestionsTest, AWaitingCallIsWokenByAGrantOfAnotherProcess) {
  ::proteus::test::Started<std::optional<SignInEnd>> waiting(
      io_, awaited_.wait(ticket_, channel_.cancellation(), std::chrono::hours(1)));
  io_.poll();
  is_connected_ = true;
  awaited_.connected("bo");
  io_.restart();
  io_.poll();
  EXPECT_FALSE(waiting.is_done());
  awaited_.connected("ada");
  EXPECT_EQ(waiting.finish(), SignInEnd::connected);
}

}  // namespace
}  // namespace proteus::gateway
