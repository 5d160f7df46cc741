// Session tools as seen by clients of both eras.
#include <gmock/gmock.h>

#include "admin/testing/session_fixture.hpp"

namespace proteus::admin::test {
namespace {

using server::code_of;
using server::LegacyClient;
using server::text_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr std::string_view kElicits = R"({"elicitation":{}})";
constexpr std::string_view kDestructive = R"(,"annotations":{"destructiveHint":true})";
constexpr std::string_view kCancelled = "Command execution cancelled by user.";

class SessionCalls : public testing::Test {
 protected:
  SessionCalls() {
    bench_.init("s", "tok");
    bench_.add("s", {tool_text("run_query", bench_.backend.url()),
                     tool_text("drop_table", bench_.backend.url("/drop"), kDestructive)});
  }

  RawClient::Answer ask_modern(std::string_view arguments = R"({"query":"x"})", std::string_view more = {},
                               std::string_view capabilities = kElicits) {
    return bench_.call_as("tok", "drop_table", arguments, more, capabilities);
  }
  // Calls the tool, and returns the state of its question.
  std::string state() {
    const auto asked = ask_modern().json().at("result");
    return std::string(asked.at("requestState").as_string());
  }
  static std::string retry(std::string_view state, std::string_view response) {
    return fmt::format(R"(,"requestState":"{}","inputResponses":{{"confirmation":{}}})", state, response);
  }
  static constexpr std::string_view kYes = R"({"action":"accept","content":{"confirmed":true}})";

  std::unique_ptr<RawClient> listen(std::string_view token) {
    auto client = std::make_unique<RawClient>(bench_.server.local_port());
    client->send_request("POST", server::modern_fields("subscriptions/listen") + bearer(token),
                         server::rpc("1", "subscriptions/listen",
                                     R"("notifications":{"toolsListChanged":true},)" + server::modern_meta()));
    EXPECT_EQ(client->read_answer().status, 200);
    EXPECT_EQ(client->read_event()->json().at("method"), "notifications/subscriptions/acknowledged");
    return client;
  }
  // Returns the next event that has a message; a stream may begin with one that has none.
  static boost::json::value next(RawClient& client) {
    for (;;) {
      const auto event = client.read_event();
      if (!event) return {{"method", "the end"}};
      if (!event->data.empty()) return event->json();
    }
  }
  std::size_t drops() {
    const auto asked = bench_.backend.asked();
    return static_cast<std::size_t>(std::ranges::count(asked, "/drop", &TestBackend::Asked::path));
  }

  store::MemoryStore store_;
  SessionFixture bench_{store_};
};

// SES-08
TEST_F(SessionCalls, ExplainWrongArgumentsAndDoNotAskTheBackEnd) {
  const auto answer = bench_.call_as("tok", "run_query", R"({"query":1,"unknown":2})");
  EXPECT_EQ(answer.status, 200);
  const auto result = answer.json();
  EXPECT_EQ(result.at("result").at("isError"), true);
  EXPECT_THAT(text_of(result), AllOf(HasSubstr("/query"), HasSubstr("unknown")));
  EXPECT_THAT(text_of(bench_.call_as("tok", "run_query", "{}").json()), HasSubstr("query"));
  EXPECT_THAT(bench_.backend.asked(), IsEmpty());
}

// SES-08, SEC-03: large arguments are checked on a background thread.
TEST_F(SessionCalls, CheckLargeArgumentsLikeAnyOther) {
  const std::string large(100'000, 'x');
  bench_.call_as("tok", "run_query", fmt::format(R"({{"query":"{}","limit":null}})", large));
  const auto asked = bench_.backend.asked();
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_THAT(asked[0].body, AllOf(HasSubstr(large), Not(HasSubstr("limit"))));
  const auto wrong = bench_.call_as("tok", "run_query", fmt::format(R"({{"query":1,"other":"{}"}})", large)).json();
  EXPECT_EQ(wrong.at("result").at("isError"), true);
  EXPECT_THAT(text_of(wrong), HasSubstr("/query"));
  EXPECT_THAT(bench_.backend.asked(), SizeIs(1));
}

// SES-10, SEC-01
TEST_F(SessionCalls, BringTheTokenThatWasMeantForTheBackEnd) {
  bench_.call_as("tok", "run_query");
  bench_.init("t", "user-token", R"(,"backend_token":"backend-token")");
  bench_.add("t", {tool_text("run_query", bench_.backend.url())});
  bench_.call_as("user-token", "run_query");
  const auto asked = bench_.backend.asked();
  ASSERT_THAT(asked, SizeIs(2));
  EXPECT_EQ(asked[0].authorization, "Bearer tok");
  EXPECT_EQ(asked[1].authorization, "Bearer backend-token");
  EXPECT_EQ(bench_.status_for("backend-token"), 401);
}

// SEC-01
TEST_F(SessionCalls, BringNoTokenToAnUpstream) {
  std::atomic<bool> seen = false;
  server::Server upstream({.name = "test", .version = "1"}, {.tools = true});
  ASSERT_TRUE(upstream.add_tool({.name = "ping"}, says("pong")));
  server::HttpOptions options;
  options.authenticate = [&](std::string_view authorization) -> Result<std::string> {
    if (!authorization.empty()) seen = true;
    return std::string();
  };
  const auto port = upstream.listen(options).value();
  bench_.ask("POST", "/admin/upstreams", {{"name", "bank"}, {"url", fmt::format("http://127.0.0.1:{}/mcp", port)}});
  bench_.refresh("bank");
  EXPECT_EQ(text_of(bench_.call_as("tok", "bank_ping", "{}").json()), "pong");
  EXPECT_FALSE(seen);
  upstream.stop();
}

// SES-11, SES-12
TEST_F(SessionCalls, AskAModernClientByTheResultAndRunOnce) {
  const auto asked = ask_modern(R"({"query":"drop it"})").json().at("result");
  EXPECT_EQ(asked.at("resultType"), "input_required");
  const auto question = asked.at("inputRequests").at("confirmation");
  EXPECT_EQ(question.at("method"), "elicitation/create");
  EXPECT_THAT(std::string(question.at("params").at("message").as_string()),
              AllOf(HasSubstr("Confirm execution of 'drop_table'"), HasSubstr("drop it")));
  EXPECT_EQ(question.at("params").at("requestedSchema").at("properties").at("confirmed").at("type"), "boolean");
  EXPECT_EQ(drops(), 0U);

  const std::string again = retry(std::string_view(asked.at("requestState").as_string()), kYes);
  const auto first = ask_modern(R"({"query":"drop it"})", again).json();
  EXPECT_EQ(first.at("result").at("structuredContent"), boost::json::parse(R"({"ok":true})"));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(ask_modern(R"({"query":"drop it"})", again).json().at("result").at("content"),
              first.at("result").at("content"));
  EXPECT_EQ(drops(), 1U);
}

// SES-12, PRO-10
TEST_F(SessionCalls, RunOnceHoweverManyTriesComeAtATime) {
  const std::string again = retry(state(), kYes);
  bench_.backend.hold("/drop");
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 8; ++i) {
    auto& client = clients.emplace_back(std::make_unique<RawClient>(bench_.server.local_port()));
    client->send_request("POST", server::modern_fields("tools/call", "drop_table") + bearer("tok"),
                         server::rpc("1", "tools/call",
                                     fmt::format(R"("name":"drop_table","arguments":{{"query":"x"}}{},{})", again,
                                                 server::modern_meta(kElicits))));
  }
  wait_until([&] { return drops() > 0; });
  bench_.backend.release();
  std::size_t ran = 0;
  for (auto& client : clients) {
    const auto result = client->read_answer().json().at("result");
    if (!result.as_object().contains("isError")) ++ran;
  }
  EXPECT_GE(ran, 1U);
  EXPECT_EQ(drops(), 1U);
}

// SES-12
TEST_F(SessionCalls, RunNothingThatWasNotConfirmed) {
  for (const auto* no : {R"({"action":"decline"})", R"({"action":"cancel"})", R"({"action":"accept"})",
                         R"({"action":"accept","content":{"confirmed":false}})",
                         R"({"action":"accept","content":{"confirmed":"true"}})"}) {
    const std::string asked = state();
    const auto result = ask_modern(R"({"query":"x"})", retry(asked, no)).json();
    EXPECT_EQ(text_of(result), kCancelled) << no;
    // The first answer decides.
    EXPECT_EQ(text_of(ask_modern(R"({"query":"x"})", retry(asked, kYes)).json()), kCancelled);
  }
  EXPECT_EQ(drops(), 0U);
}

// PRO-10
TEST_F(SessionCalls, TakeAConfirmationForWhatWasAskedAlone) {
  const std::string asked = state();
  std::string tampered = asked;
  tampered[tampered.size() / 2] = tampered[tampered.size() / 2] == 'A' ? 'B' : 'A';
  EXPECT_EQ(code_of(ask_modern(R"({"query":"x"})", retry(tampered, kYes)).json()), -32602);
  EXPECT_EQ(code_of(ask_modern(R"({"query":"other"})", retry(asked, kYes)).json()), -32602);
  bench_.init("t", "tok_t");
  bench_.add("t", {tool_text("drop_table", bench_.backend.url("/drop"), kDestructive)});
  EXPECT_EQ(code_of(bench_.call_as("tok_t", "drop_table", R"({"query":"x"})", retry(asked, kYes), kElicits).json()),
            -32602);
  bench_.add("s", {tool_text("drop_other", bench_.backend.url("/drop"), kDestructive)});
  EXPECT_EQ(code_of(bench_.call_as("tok", "drop_other", R"({"query":"x"})", retry(asked, kYes), kElicits).json()),
            -32602);
  // An answer without a question does not count.
  const auto unasked =
      ask_modern(R"({"query":"x"})", R"(,"inputResponses":{"confirmation":)" + std::string(kYes) + "}");
  EXPECT_EQ(unasked.json().at("result").at("resultType"), "input_required");
  bench_.clock.skip(std::chrono::minutes(11));
  EXPECT_EQ(code_of(ask_modern(R"({"query":"x"})", retry(asked, kYes)).json()), -32602);
  EXPECT_EQ(drops(), 0U);
}

// SES-13
TEST_F(SessionCalls, RunNothingForAClientThatCannotBeAsked) {
  const auto modern = ask_modern(R"({"query":"x"})", {}, "{}");
  EXPECT_EQ(code_of(modern.json()), -32021);
  LegacyClient legacy(bench_.server.local_port(), "2025-11-25", "{}", bearer("tok"));
  const auto answer = legacy.call("1", "drop_table", R"(,"arguments":{"query":"x"})").json();
  EXPECT_EQ(answer.at("result").at("isError"), true);
  EXPECT_THAT(text_of(answer), HasSubstr("elicitation"));
  EXPECT_EQ(drops(), 0U);
}

// SES-11, SES-12
TEST_F(SessionCalls, AskALegacyClientWhileItsCallWaits) {
  for (const auto& [response, runs] :
       {std::pair(kYes, true), std::pair(std::string_view(R"({"action":"decline"})"), false)}) {
    LegacyClient legacy(bench_.server.local_port(), "2025-11-25", kElicits, bearer("tok"));
    legacy.client.send_request("POST", legacy.fields(),
                               server::rpc("5", "tools/call", R"("name":"drop_table","arguments":{"query":"x"})"));
    EXPECT_EQ(legacy.client.read_answer().field("content-type"), "text/event-stream");
    const auto question = next(legacy.client);
    EXPECT_EQ(question.at("method"), "elicitation/create");
    EXPECT_THAT(std::string(question.at("params").at("message").as_string()),
                HasSubstr("Confirm execution of 'drop_table'"));
    RawClient other(bench_.server.local_port());
    const auto taken = other.request(
        "POST", legacy.fields(),
        fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", boost::json::serialize(question.at("id")), response));
    EXPECT_EQ(taken.status, 202);
    const auto answer = next(legacy.client);
    EXPECT_EQ(answer.at("id"), 5);
    EXPECT_EQ(text_of(answer) == kCancelled, !runs);
  }
  EXPECT_EQ(drops(), 1U);
}

// SES-20
TEST_F(SessionCalls, TellTheClientsOfThatSessionAlone) {
  bench_.init("other", "tok_other");
  const auto modern = listen("tok");
  const auto other = listen("tok_other");
  LegacyClient legacy(bench_.server.local_port(), "2025-11-25", "{}", bearer("tok"));
  RawClient stream(bench_.server.local_port());
  stream.send_request("GET", legacy.fields() + "Accept: text/event-stream\r\n");
  EXPECT_EQ(stream.read_answer().status, 200);
  const auto told = [](RawClient& client) { return std::string(next(client).at("method").as_string()); };

  bench_.add("s", {tool_text("more", bench_.backend.url())});
  EXPECT_EQ(told(*modern), "notifications/tools/list_changed");
  EXPECT_EQ(told(stream), "notifications/tools/list_changed");
  bench_.drop("s", "more");
  EXPECT_EQ(told(*modern), "notifications/tools/list_changed");
  EXPECT_EQ(told(stream), "notifications/tools/list_changed");
  // Registering a tool again unchanged is not a change.
  bench_.add("s", {tool_text("run_query", bench_.backend.url())});
  bench_.cleanup("s");
  EXPECT_EQ(told(*modern), "notifications/tools/list_changed");
  EXPECT_EQ(told(*modern), "notifications/cancelled");
  EXPECT_EQ(told(stream), "notifications/tools/list_changed");
  EXPECT_EQ(told(stream), "the end");
  // The other client was not notified before its own session ended.
  bench_.cleanup("other");
  EXPECT_EQ(told(*other), "notifications/cancelled");
}

// SEC-05
TEST_F(SessionCalls, KeepALegacySessionToTheTokenThatOpenedIt) {
  bench_.init("other", "tok_other");
  LegacyClient legacy(bench_.server.local_port(), "2025-11-25", "{}", bearer("tok"));
  EXPECT_GE(legacy.session.size(), 32U);
  RawClient thief(bench_.server.local_port());
  const auto list = server::rpc("1", "tools/list", "");
  EXPECT_EQ(
      thief.request("POST", fmt::format("Mcp-Session-Id: {}\r\n{}", legacy.session, bearer("tok_other")), list).status,
      404);
  EXPECT_EQ(legacy.post(list).status, 200);
  bench_.init("s", "tok_new");
  EXPECT_EQ(legacy.post(list).status, 401);
  EXPECT_EQ(
      thief.request("POST", fmt::format("Mcp-Session-Id: {}\r\n{}", legacy.session, bearer("tok_new")), list).status,
      404);
}

// SES-17
TEST_F(SessionCalls, EndASessionThatNobodyUses) {
  using std::chrono::minutes;
  const auto use = {+[](SessionFixture& fixture) { fixture.tools_of("tok"); },
                    +[](SessionFixture& fixture) { fixture.list("s"); },
                    +[](SessionFixture& fixture) { fixture.call_as("tok", "run_query"); },
                    +[](SessionFixture& fixture) { fixture.drop("s", "drop_table"); }};
  for (const auto& each : use) {
    bench_.clock.skip(minutes(29));
    each(bench_);
  }
  const auto stream = listen("tok");
  bench_.clock.skip(minutes(29));
  EXPECT_EQ(bench_.status_for("tok"), 200);
  bench_.clock.skip(minutes(30));
  EXPECT_EQ(bench_.status_for("tok"), 401);
  EXPECT_EQ(bench_.list("s").status, 404);
  bench_.run(bench_.sessions.look_over());
  EXPECT_EQ(bench_.sessions.size(), 0U);
  EXPECT_EQ(stream->read_event()->json().at("method"), "notifications/tools/list_changed");
  EXPECT_EQ(stream->read_event()->json().at("method"), "notifications/cancelled");
  EXPECT_THAT(bench_.run(store_.tool_sessions()).value(), IsEmpty());
  EXPECT_THAT(bench_.run(store_.session_tools()).value(), IsEmpty());
}

// SES-17
TEST_F(SessionCalls, MakeASessionAnewWhoseTimeIsOver) {
  bench_.clock.skip(std::chrono::minutes(31));
  EXPECT_EQ(bench_.init("s", "tok").json().at("status"), "created");
  EXPECT_THAT(bench_.tools_of("tok"), IsEmpty());
  EXPECT_THAT(bench_.run(store_.session_tools()).value(), IsEmpty());
  bench_.run(bench_.sessions.look_over());
  EXPECT_EQ(bench_.status_for("tok"), 200);
}

// AUT-01, AUT-04
TEST_F(SessionCalls, StayWhereTokensOfTheFileChange) {
  const auto stream = listen("tok");
  bench_.gateway.set_access({std::make_shared<const gateway::Principals>(std::vector<gateway::PrincipalSettings>{},
                                                                         gateway::Anonymous::refused),
                             {}});
  EXPECT_THAT(bench_.tools_of("tok"), ElementsAre("drop_table", "run_query"));
  bench_.add("s", {tool_text("more", bench_.backend.url())});
  EXPECT_EQ(stream->read_event()->json().at("method"), "notifications/tools/list_changed");
}

// CTX-17
TEST_F(SessionCalls, AreMadeInTheContextOfTheSession) {
  const auto serve = [this](std::map<std::string, catalog::ContextManifest> contexts) {
    bench_.gateway.set_access({std::make_shared<const gateway::Principals>(std::vector<gateway::PrincipalSettings>{},
                                                                           gateway::Anonymous::served),
                               catalog::Contexts::make({std::move(contexts), {}})});
  };
  serve({{"filings", {.tool_supplements = {{"run_query", "Facts carry dimensions."}}}}, {"other", {}}});
  EXPECT_EQ(bench_.init("c", "tok_c", R"(,"context":"filings")").status, 200);
  bench_.add("c", {tool_text("run_query", bench_.backend.url())});
  EXPECT_THAT(bench_.mcp("tok_c", "tools/list").body, HasSubstr("Facts carry dimensions."));
  EXPECT_THAT(bench_.mcp("tok", "tools/list").body, Not(HasSubstr("Facts carry dimensions.")));
  EXPECT_EQ(text_of(bench_.call_as("tok_c", "run_query").json()), R"({"ok":true})");
  serve({{"other", {}}});
  EXPECT_EQ(bench_.status_for("tok_c"), 404);
}

// OPS-06
TEST_F(SessionCalls, AreCounted) {
  EXPECT_THAT(bench_.ask("GET", "/metrics").body, HasSubstr("proteus_tool_sessions 1\n"));
  bench_.cleanup("s");
  EXPECT_THAT(bench_.ask("GET", "/metrics").body, HasSubstr("proteus_tool_sessions 0\n"));
}

// SES-14, PRO-09
TEST_F(SessionCalls, EndAtTheBackEndWhereTheClientGoes) {
  bench_.backend.hold("/fetch");
  {
    RawClient client(bench_.server.local_port());
    client.send_request(
        "POST", server::modern_fields("tools/call", "run_query") + bearer("tok"),
        server::rpc("1", "tools/call", R"("name":"run_query","arguments":{"query":"x"},)" + server::modern_meta()));
    wait_until([&] { return !bench_.backend.asked().empty(); });
  }
  wait_until([&] { return bench_.backend.abandoned() == 1; });
  bench_.backend.release();
  EXPECT_EQ(bench_.status_for("tok"), 200);
}

}  // namespace
}  // namespace proteus::admin::test
