// Tests of programs as servers (PRO-14), and of what a connection does over every transport.
#include <algorithm>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/test_support.hpp"

namespace proteus::client {
namespace {

using namespace std::chrono_literals;
using test::Client;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace asio = boost::asio;

Task<Result<std::string>> accept_at_once(Question) { co_return R"({"action":"accept","content":{}})"; }
Task<Result<std::string>> never_answer(Question) {
  Bell bell(co_await asio::this_coro::executor);
  co_await bell.wait();
  co_return "{}";
}

Options quick_and_accepting() {
  Options options;
  options.handlers.elicit_form = accept_at_once;
  options.reconnect_delay = 1ms;
  return options;
}

class EitherEra : public ::testing::TestWithParam<const char*> {
 protected:
  Endpoint server() const { return test::stdio_fixture({"--era", GetParam()}); }
};
INSTANTIATE_TEST_SUITE_P(Stdio, EitherEra, ::testing::Values("legacy", "modern"),
                         [](const auto& era) { return std::string(era.param); });

TEST_P(EitherEra, FindsTheEraAndTheFacts) {  // PRO-14
  Client client(server(), quick_and_accepting());
  const auto facts = client.run(client.connection.open());
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_EQ(mcp::to_string((*facts)->era()), GetParam());
  EXPECT_EQ((*facts)->info, R"({"name": "fixture", "version": "1"})");
  EXPECT_EQ((*facts)->instructions, "Be gentle.");
  EXPECT_TRUE((*facts)->offers.tools.list_changed);
}

TEST_P(EitherEra, CallsAndPassesBytesOnUnchanged) {
  Client client(server(), quick_and_accepting());
  const auto answer = client.call("echo", "{\"big\": 12345678901234567890,\n \"e\": 1e2}");
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_THAT(answer->result(), HasSubstr("12345678901234567890"));
}

TEST_P(EitherEra, ListsAllPages) {  // REF-15
  Client client(server(), quick_and_accepting());
  const auto tools = client.run(client.connection.list(mcp::Method::tools_list));
  ASSERT_TRUE(tools) << tools.error().message();
  EXPECT_EQ(tools->entries.size(), 18U);
  EXPECT_EQ(tools->pages.size(), 4U);
  EXPECT_EQ(tools->entries.front().definition, R"({"name": "echo", "inputSchema": {"type": "object"}})");
  ASSERT_TRUE(tools->caching);
  EXPECT_EQ(tools->caching->ttl, 985ms);
  const auto prompts = client.run(client.connection.list(mcp::Method::prompts_list));
  EXPECT_EQ(prompts->entries.at(0).name, "greet");
  const auto resources = client.run(client.connection.list(mcp::Method::resources_list));
  EXPECT_EQ(resources->entries.at(0).name, "test://one");
  const auto templates = client.run(client.connection.list(mcp::Method::resource_templates_list));
  EXPECT_EQ(templates->entries.at(0).name, "test://{x}");
}

TEST_P(EitherEra, GetsPromptsResourcesAndCompletions) {
  Client client(server(), quick_and_accepting());
  const auto prompt = client.run(get_prompt(client.connection, "greet", R"({"who":"you"})"));
  EXPECT_THAT(prompt->result(), HasSubstr(R"({\"who\": \"you\"})"));
  const auto resource = client.run(read_resource(client.connection, "test://one"));
  EXPECT_EQ(resource->value()->at("contents").at(0).at("text"), "content");
  const auto values = client.run(complete(client.connection, R"({"type":"ref/prompt","name":"greet"})", "who", "y"));
  EXPECT_EQ(values->value()->at("completion").at("values").at(0), "y!");
  EXPECT_TRUE(client.run(ping(client.connection)));
}

TEST_P(EitherEra, ReportsProgressAndIgnoresWhatIsNoneOfOurs) {
  Client client(server(), quick_and_accepting());
  std::vector<double> seen;
  RequestOptions options;
  options.on_progress = [&](const mcp::Progress& progress) { seen.push_back(progress.progress); };
  EXPECT_EQ(client.text("progress", "{}", options), "done");
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
}

TEST_P(EitherEra, ExtendsTheDeadlineByProgress) {
  Client client(server(), quick_and_accepting());
  ASSERT_TRUE(client.run(client.connection.open()));
  RequestOptions options;
  options.timeout = 1500ms;
  options.on_progress = [](const mcp::Progress&) {};
  EXPECT_EQ(client.text("progress", R"({"steps":4,"pause":0.4})", options), "done");
}

TEST_P(EitherEra, HandsOutLogMessages) {
  Client client(server(), quick_and_accepting());
  std::vector<std::string> seen;
  RequestOptions options;
  options.on_log = [&](const LogEntry& entry) {
    seen.push_back(std::string(mcp::to_string(entry.level)) + " " + entry.logger + " " + std::string(entry.data));
  };
  options.log_level = mcp::LogLevel::info;
  EXPECT_EQ(client.text("log", "{}", options), "logged");
  EXPECT_THAT(seen, ElementsAre(R"(warning fixture {"x": 1})"));
}

TEST_P(EitherEra, AnswersAnElicitationAndAppliesDefaults) {
  Client client(server(), quick_and_accepting());
  EXPECT_THAT(client.text("ask"), HasSubstr(R"("content": {"name": "Ada"})"));
}

TEST_P(EitherEra, RefusesAModeItHasNoHandlerFor) {
  Client client(server(), quick_and_accepting());
  EXPECT_THAT(client.text("ask", R"({"mode":"url"})"), HasSubstr("mode of elicitation is not supported"));
}

TEST_P(EitherEra, HandlersOfACallComeBeforeThoseOfTheConnection) {
  if (std::string_view(GetParam()) == "legacy") GTEST_SKIP() << "a shared channel does not tell which call asks";
  Client client(server(), quick_and_accepting());
  auto handlers = std::make_shared<Handlers>();
  handlers->elicit_form = [](Question) -> Task<Result<std::string>> { co_return R"({"action":"decline"})"; };
  RequestOptions options;
  options.handlers = handlers;
  EXPECT_THAT(client.text("ask", "{}", options), HasSubstr("decline"));
}

TEST_P(EitherEra, TimesOutAndTellsTheServer) {  // PRO-09
  Client client(server(), quick_and_accepting());
  ASSERT_TRUE(client.run(client.connection.open()));
  RequestOptions options;
  options.timeout = 50ms;
  const auto answer = client.call("slow", "{}", options);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind(), ErrorKind::timeout);
  EXPECT_THAT(client.text("journal"), HasSubstr(R"("method": "notifications/cancelled")"));
}

TEST_P(EitherEra, CancelsAtTheServerWhatTheCallerNoLongerWants) {  // PRO-09
  Client client(server(), quick_and_accepting());
  ASSERT_TRUE(client.run(client.connection.open()));
  asio::cancellation_signal signal;
  bool ended = false;
  asio::co_spawn(client.io, call_tool(client.connection, "slow", "{}"),
                 asio::bind_cancellation_slot(signal.slot(), [&](const std::exception_ptr& thrown, const auto&) {
                   ended = true;
                   EXPECT_TRUE(thrown);
                 }));
  EXPECT_EQ(client.text("echo"), "{}");
  signal.emit(asio::cancellation_type::terminal);
  client.run_until([&] { return ended; });
  const std::string journal = client.text("journal");
  EXPECT_THAT(journal, HasSubstr("notifications/cancelled"));
  EXPECT_THAT(journal, HasSubstr("the caller no longer waits"));
}

TEST_P(EitherEra, ListensForChanges) {
  std::vector<std::string> seen;
  Options options = quick_and_accepting();
  options.on_announcement = [&](const Announcement& change) {
    seen.push_back(change.kind == Announcement::Kind::tools ? "tools" : "updated " + change.uri);
  };
  Client client(server(), std::move(options));
  mcp::SubscriptionFilter wanted;
  wanted.tools = true;
  wanted.uris = {"test://one"};
  const auto listening = client.run(client.connection.listen(wanted));
  ASSERT_TRUE(listening) << listening.error().message();
  EXPECT_EQ(client.text("change"), "changed");
  client.run_until([&] { return seen.size() == 2; });
  EXPECT_THAT(seen, ::testing::UnorderedElementsAre("updated test://one", "tools"));
}

TEST_P(EitherEra, RestartsAProgramThatDied) {
  Client client(server(), quick_and_accepting());
  const auto crashed = client.call("crash");
  ASSERT_FALSE(crashed);
  EXPECT_EQ(crashed.error().kind(), ErrorKind::interrupted);
  EXPECT_THAT(crashed.error().message(), HasSubstr("exited with code 7"));
  EXPECT_EQ(client.text("echo"), "{}");
}

TEST_P(EitherEra, ListensAgainAfterTheProgramDied) {
  std::vector<Announcement::Kind> seen;
  Options options = quick_and_accepting();
  options.on_announcement = [&](const Announcement& change) { seen.push_back(change.kind); };
  Client client(server(), std::move(options));
  mcp::SubscriptionFilter wanted;
  wanted.tools = true;
  ASSERT_TRUE(client.run(client.connection.listen(wanted)));
  EXPECT_FALSE(client.call("crash"));
  client.run_until([&] { return seen.size() >= 2; });
  EXPECT_THAT(seen, ElementsAre(Announcement::Kind::interrupted, Announcement::Kind::reopened));
}

TEST_P(EitherEra, SurvivesFaultyAnswers) {  // SEC-06
  Client client(server(), quick_and_accepting());
  EXPECT_EQ(client.text("twice"), "first");
  EXPECT_EQ(client.text("wrong"), "right");
  EXPECT_EQ(client.text("garbage"), "after garbage");
  EXPECT_THAT(client.text("bad"), HasSubstr("no answer"));
  EXPECT_EQ(client.text("echo"), "{}");
}

TEST_P(EitherEra, EndsARequestWhoseAnswerIsTooLarge) {  // SEC-06
  Options options = quick_and_accepting();
  options.limits.message_bytes = 100'000;
  Client client(server(), std::move(options));
  const auto answer = client.call("huge", R"({"bytes":200000})");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind(), ErrorKind::too_large);
  EXPECT_THAT(answer.error().message(), HasSubstr("100000 bytes, which max_message_bytes sets"));
  EXPECT_EQ(client.text("echo"), "{}");
}

TEST_P(EitherEra, EndsWhatIsUnderWayWhenItIsClosed) {
  Client client(server(), quick_and_accepting());
  ASSERT_TRUE(client.run(client.connection.open()));
  std::optional<Result<Answer>> answer;
  asio::co_spawn(client.io, call_tool(client.connection, "slow", "{}"),
                 [&](const std::exception_ptr&, Result<Answer> result) { answer = std::move(result); });
  EXPECT_EQ(client.text("echo"), "{}");
  client.run(client.connection.close());
  client.run_until([&] { return answer.has_value(); });
  EXPECT_EQ(answer->error().kind(), ErrorKind::cancelled);
  EXPECT_FALSE(client.call("echo"));
}

TEST_P(EitherEra, BoundsTheRequestsUnderWay) {
  Options options = quick_and_accepting();
  options.limits.requests = 1;
  Client client(server(), std::move(options));
  ASSERT_TRUE(client.run(client.connection.open()));
  asio::co_spawn(client.io, call_tool(client.connection, "slow", "{}"), [](const std::exception_ptr&, const auto&) {});
  const auto answer = client.call("echo");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind(), ErrorKind::exhausted);
}

TEST_P(EitherEra, PassesErrorsOnAsTheyCame) {
  Client client(server(), quick_and_accepting());
  const auto answer = client.call("unheard of");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind(), ErrorKind::remote);
  EXPECT_EQ(answer.error().rpc_code(), -32602);
  EXPECT_EQ(answer.error().message(), "Unknown tool: unheard of");
}

TEST(Stdio, PrefersTheModernEraOfAServerOfBoth) {
  Client client(test::stdio_fixture(), quick_and_accepting());
  EXPECT_EQ(client.run(client.connection.open()).value()->era(), mcp::Era::modern);
}

TEST(Stdio, SpeaksTheEraItIsToldTo) {
  Options options = quick_and_accepting();
  options.era = mcp::Era::legacy;
  Client client(test::stdio_fixture(), std::move(options));
  EXPECT_EQ(client.run(client.connection.open()).value()->era(), mcp::Era::legacy);
  Options modern = quick_and_accepting();
  modern.era = mcp::Era::modern;
  Client refused(test::stdio_fixture({"--era", "legacy"}), std::move(modern));
  EXPECT_EQ(refused.run(refused.connection.open()).error().kind(), ErrorKind::unsupported);
}

class LegacyProbe : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Stdio, LegacyProbe,
                         ::testing::Values("silent-probe", "exit-at-probe", "nameless-error", "empty-probe", "noise"),
                         [](const auto& fault) {
                           std::string name = fault.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(LegacyProbe, FallsBackToTheHandshake) {
  Options options = quick_and_accepting();
  if (std::string_view(GetParam()) == "silent-probe") options.probe_timeout = 300ms;
  Client client(test::stdio_fixture({"--era", "legacy", "--fault", GetParam()}), std::move(options));
  const auto facts = client.run(client.connection.open());
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_EQ((*facts)->era(), mcp::Era::legacy);
  EXPECT_EQ(client.text("echo"), "{}");
}

TEST(Stdio, RecognizesAModernServerThatStartsLate) {
  Options options = quick_and_accepting();
  options.probe_timeout = 10ms;
  Client client(test::stdio_fixture({"--era", "modern", "--fault", "late"}), std::move(options));
  const auto facts = client.run(client.connection.open());
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_EQ((*facts)->era(), mcp::Era::modern);
}

TEST(Stdio, DoesNotFallBackFromAModernServerWithoutAVersionInCommon) {
  Client client(test::stdio_fixture({"--fault", "refuse-version"}), quick_and_accepting());
  const auto facts = client.run(client.connection.open());
  ASSERT_FALSE(facts);
  EXPECT_THAT(facts.error().message(), HasSubstr("2027-01-01"));
}

TEST(Stdio, SaysWhichProgramCannotBeRun) {
  Client client(net::Command{{"/does/not/exist"}, {}}, quick_and_accepting());
  const auto facts = client.run(client.connection.open());
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().kind(), ErrorKind::unreachable);
  EXPECT_THAT(facts.error().message(), HasSubstr("/does/not/exist"));
}

TEST(Stdio, BoundsListsThatDoNotEnd) {  // SEC-06
  Options options = quick_and_accepting();
  options.limits.lists.pages = 10;
  Client endless(test::stdio_fixture({"--fault", "endless-list"}), options);
  EXPECT_EQ(endless.run(endless.connection.list(mcp::Method::tools_list)).error().kind(), ErrorKind::too_large);
  options.limits.lists = {.pages = 1000, .entries = 10};
  Client long_one(test::stdio_fixture({"--fault", "endless-list"}), options);
  EXPECT_EQ(long_one.run(long_one.connection.list(mcp::Method::tools_list)).error().kind(), ErrorKind::too_large);
  Client circular(test::stdio_fixture({"--fault", "circular-list"}), quick_and_accepting());
  EXPECT_THAT(circular.run(circular.connection.list(mcp::Method::tools_list)).error().message(),
              HasSubstr("a cursor returns"));
}

TEST(Stdio, HandsTheStateOfARequestBackExactly) {
  Client client(test::stdio_fixture({"--era", "modern"}), quick_and_accepting());
  EXPECT_THAT(client.text("ask"), HasSubstr(R"("state": "st\u00e4te \"1\"")"));
  EXPECT_EQ(client.text("confirm"), "confirmed");
}

TEST(Stdio, HandsARequestForInputBackWhereAsked) {
  Client client(test::stdio_fixture({"--era", "modern"}), quick_and_accepting());
  RequestOptions options;
  options.inputs = Inputs::hand_back;
  const auto answer = client.call("ask", "{}", options);
  EXPECT_EQ(answer->member("resultType"), R"("input_required")");
}

TEST(Stdio, BoundsTheRoundsOfOneRequest) {  // SEC-06
  Client client(test::stdio_fixture({"--era", "modern"}), quick_and_accepting());
  EXPECT_EQ(client.call("forever").error().kind(), ErrorKind::exhausted);
  EXPECT_EQ(client.call("odd").error().kind(), ErrorKind::protocol);
}

TEST(Stdio, BoundsTheQuestionsOfTheServer) {  // SEC-06
  Options options = quick_and_accepting();
  options.limits.server_requests = 4;
  options.handlers.elicit_form = never_answer;
  Client client(test::stdio_fixture({"--era", "legacy"}), std::move(options));
  EXPECT_EQ(client.text("flood", R"({"count":50})"), "flooded");
  EXPECT_THAT(client.text("journal"), HasSubstr("too many requests"));
}

TEST(Stdio, SendsNoMoreAnswersThanAskedToAPing) {
  Client client(test::stdio_fixture({"--era", "legacy"}), quick_and_accepting());
  EXPECT_EQ(client.text("ask", R"({"method":"ping"})"), "{}");
  EXPECT_THAT(client.text("ask", R"({"method":"tasks/get"})"), HasSubstr("Method not found"));
}

TEST(Stdio, KnowsWhichMethodsAnEraHas) {
  Client client(test::stdio_fixture({"--era", "modern"}), quick_and_accepting());
  EXPECT_EQ(client.run(client.connection.request(mcp::Method::ping, {})).error().kind(), ErrorKind::unsupported);
}

TEST(Stdio, EndsAProgramInFullThoughTheCallerNoLongerWaits) {
  Options options = quick_and_accepting();
  options.era = mcp::Era::modern;
  options.timeout = 1ms;  // it never answers
  options.grace = {.after_end_of_input = 300ms, .after_sigterm = 0ms};
  bool ending = false;
  options.on_stderr_line = [&](std::string_view) { ending = true; };
  Client client(net::Command{{"sh", "-c", "cat > /dev/null; echo ending >&2; exec sleep 1000"}, {}},
                std::move(options));
  net::test::Started opening(client.io, client.connection.open());
  client.run_until([&] { return ending; });
  opening.cancel();
  EXPECT_THROW(opening.finish(), boost::system::system_error);
}

TEST(Stdio, LeavesNoProgramBehind) {
  const auto before = net::test::open_descriptors();
  {
    Client client(test::stdio_fixture(), quick_and_accepting());
    EXPECT_EQ(client.text("echo"), "{}");
  }
  EXPECT_EQ(net::test::open_descriptors(), before);
}

}  // namespace
}  // namespace proteus::client
