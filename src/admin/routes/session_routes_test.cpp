#include "admin/routes/session_routes.hpp"

#include <gmock/gmock.h>

#include "admin/testing/session_fixture.hpp"

namespace proteus::admin::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class SessionRoutes : public testing::Test {
 protected:
  std::string tool(std::string_view name, std::string_view members = {}) {
    return tool_text(name, bench_.backend.url(), members);
  }
  void expect_fault(const Reply& reply, std::string_view pointer) {
    EXPECT_EQ(reply.status, 400) << reply.body;
    EXPECT_THAT(reply.head, HasSubstr("application/problem+json"));
    ASSERT_TRUE(reply.json().as_object().contains("errors")) << reply.body;
    EXPECT_EQ(std::string_view(reply.json().at("errors").at(0).at("pointer").as_string()), pointer) << reply.body;
  }

  store::MemoryStore store_;
  SessionFixture bench_{store_};
};

// SES-01
TEST_F(SessionRoutes, AreClosedWithoutTheSecret) {
  bench_.init("s", "tok");
  bench_.add("s", {tool("run_query")});
  for (const auto* secret : {"", "X-Admin-Secret: THE ADMIN SECRET\r\n", "X-Admin-Secret: the admin secre\r\n",
                             "X-Admin-Secret: the admin secret\r\nX-Admin-Secret: the admin secret\r\n"}) {
    for (const auto& [path, body] :
         {std::pair("/admin/session/init", R"({"session_id":"t","user_token":"u","user_id":1})"),
          std::pair("/admin/session/cleanup", R"({"session_id":"s"})"),
          std::pair("/admin/tools/register", R"({"session_id":"s","tools":[]})"),
          std::pair("/admin/tools/unregister", R"({"session_id":"s","name":"run_query"})")}) {
      EXPECT_EQ(bench_.send("POST", path, body, secret).status, 401) << path;
    }
    EXPECT_EQ(bench_.send("GET", "/admin/tools/list?session_id=s", "", secret).status, 401);
  }
  EXPECT_THAT(bench_.tools_of("tok"), ElementsAre("run_query"));
  EXPECT_EQ(bench_.status_for("u"), 401);
}

// SES-02
TEST_F(SessionRoutes, BindATokenThatTheEndpointThenKnows) {
  EXPECT_EQ(bench_.status_for("tok_abc"), 401);
  const auto made = bench_.init("sess_42", "tok_abc");
  EXPECT_EQ(made.status, 200);
  EXPECT_EQ(made.json(), boost::json::parse(R"({"session_id":"sess_42","status":"created"})"));
  EXPECT_EQ(bench_.status_for("tok_abc"), 200);
  const auto unknown = bench_.mcp("tok_abd", "tools/list");
  EXPECT_EQ(unknown.status, 401);
  EXPECT_THAT(unknown.field("www-authenticate"), HasSubstr("Bearer"));
  EXPECT_EQ(bench_.init("sess_42", "tok_abc").json().at("status"), "updated");
}

// SES-03, SES-04, SES-05
TEST_F(SessionRoutes, GiveToolsToOneTokenAlone) {
  TestBackend other;
  bench_.init("a", "tok_a");
  bench_.init("b", "tok_b");
  ASSERT_EQ(bench_.add("a", {tool("run_query"), tool("only_a")}).json().at("registered"),
            boost::json::parse(R"(["run_query","only_a"])"));
  ASSERT_EQ(bench_.add("b", {tool_text("run_query", other.url("/b"))}).status, 200);
  EXPECT_THAT(bench_.tools_of("tok_a"), ElementsAre("only_a", "run_query"));
  EXPECT_THAT(bench_.tools_of("tok_b"), ElementsAre("run_query"));
  EXPECT_THAT(bench_.tools(), IsEmpty());

  bench_.call_as("tok_a", "run_query");
  bench_.call_as("tok_b", "run_query");
  ASSERT_THAT(bench_.backend.asked(), SizeIs(1));
  ASSERT_THAT(other.asked(), SizeIs(1));
  EXPECT_EQ(bench_.backend.asked().front().authorization, "Bearer tok_a");
  EXPECT_EQ(other.asked().front().authorization, "Bearer tok_b");

  auto foreign = bench_.call_as("tok_b", "only_a");
  auto absent = bench_.call_as("tok_b", "only_x");
  EXPECT_EQ(foreign.status, absent.status);
  std::string expected = absent.body;
  expected.replace(expected.find("only_x"), 6, "only_a");
  EXPECT_EQ(foreign.body, expected);
  EXPECT_THAT(bench_.backend.asked(), SizeIs(1));
}

// SES-06
TEST_F(SessionRoutes, MakeASessionWithItsFirstToolsWhereATokenIsGiven) {
  EXPECT_EQ(bench_.add("s", {tool("run_query")}).status, 404);
  EXPECT_EQ(bench_.add("s", {tool("run_query")}, R"(,"user_token":"tok","user_id":"u")").status, 200);
  EXPECT_THAT(bench_.tools_of("tok"), ElementsAre("run_query"));
  EXPECT_EQ(bench_.add("s", {tool("more")}, R"(,"user_token":"tok","user_id":"u")").status, 200);
  EXPECT_EQ(bench_.add("s", {tool("other")}, R"(,"user_token":"tok2")").status, 409);
  EXPECT_EQ(bench_.add("s", {tool("other")}, R"(,"user_id":"v")").status, 409);
  EXPECT_THAT(bench_.tools_of("tok"), ElementsAre("more", "run_query"));
}

// SES-15
TEST_F(SessionRoutes, TakeOneToolAway) {
  bench_.init("s", "tok");
  bench_.add("s", {tool("a"), tool("b")});
  const auto gone = bench_.drop("s", "a");
  EXPECT_EQ(gone.status, 200);
  EXPECT_EQ(gone.json(), boost::json::parse(R"({"session_id":"s","unregistered":"a"})"));
  EXPECT_THAT(bench_.tools_of("tok"), ElementsAre("b"));
  EXPECT_EQ(bench_.drop("s", "a").status, 404);
  EXPECT_EQ(bench_.drop("unknown", "a").status, 404);
  EXPECT_EQ(bench_.drop("s", "b").status, 200);
  EXPECT_THAT(bench_.tools_of("tok"), IsEmpty());
}

// SES-16
TEST_F(SessionRoutes, EndASessionWithAllItHas) {
  bench_.init("s", "tok");
  bench_.add("s", {tool("a"), tool("b")});
  EXPECT_EQ(bench_.cleanup("s").json(), boost::json::parse(R"({"session_id":"s","removed":2})"));
  EXPECT_EQ(bench_.status_for("tok"), 401);
  EXPECT_EQ(bench_.list("s").status, 404);
  const auto again = bench_.cleanup("s");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.json().at("removed"), 0);
  EXPECT_EQ(bench_.init("s", "tok").json().at("status"), "created");
  EXPECT_THAT(bench_.tools_of("tok"), IsEmpty());
}

// SES-18, SES-09
TEST_F(SessionRoutes, ListToolsWithoutSecrets) {
  EXPECT_EQ(bench_.list("s").status, 404);
  bench_.init("s", "tok-secret", R"(,"backend_token":"backend-secret")");
  EXPECT_EQ(bench_.list("s").json(), boost::json::parse(R"({"session_id":"s","tools":[]})"));
  bench_.add("s", {tool("run_query", R"(,"title":"Run","fixed_params":{"key":"fixed-secret"},"timeout":3)")});
  const auto listed = bench_.list("s");
  EXPECT_THAT(listed.body, Not(HasSubstr("secret")));
  const auto shown = listed.json().at("tools").at(0);
  EXPECT_EQ(shown.at("name"), "run_query");
  EXPECT_EQ(shown.at("title"), "Run");
  EXPECT_EQ(shown.at("action"), "open_table");
  EXPECT_EQ(shown.at("timeout"), "3s");
  EXPECT_EQ(shown.at("fixed_param_names"), boost::json::parse(R"(["key"])"));
  EXPECT_EQ(shown.at("url"), boost::json::value(bench_.backend.url()));
  EXPECT_EQ(bench_.ask("GET", "/admin/tools/list").status, 400);
  EXPECT_THAT(bench_.mcp("tok-secret", "tools/list").body, Not(HasSubstr("key")));
}

// SES-19
TEST_F(SessionRoutes, RegisterNoneOfABatchWithOneBadTool) {
  bench_.init("s", "tok");
  const auto refused =
      bench_.add("s", {tool("good"), R"({"name":"bad","url":"file:///x","inputSchema":{"type":"object"}})"});
  EXPECT_EQ(refused.status, 400);
  const auto problem = refused.json();
  EXPECT_EQ(problem.at("status"), 400);
  ASSERT_THAT(problem.at("errors").as_array(), SizeIs(2));
  EXPECT_EQ(problem.at("errors").at(0).at("tool"), "bad");
  EXPECT_EQ(problem.at("errors").at(0).at("pointer"), "/tools/1/description");
  EXPECT_EQ(problem.at("errors").at(1).at("pointer"), "/tools/1/url");
  expect_fault(bench_.add("s", {tool("twice"), tool("twice")}), "/tools/1/name");
  EXPECT_THAT(bench_.tools_of("tok"), IsEmpty());
}

// SES-25
TEST_F(SessionRoutes, ReadJsonWhateverItsTypeIsCalled) {
  const std::string secret = fmt::format("X-Admin-Secret: {}\r\n", kSecret);
  for (const auto* type : {"", "Content-Type: application/x-www-form-urlencoded\r\n", "Content-Type: text/plain\r\n"}) {
    const auto made = bench_.send("POST", "/admin/session/init", R"({"session_id":"s","user_token":"tok","user_id":7})",
                                  secret + type);
    EXPECT_EQ(made.status, 200) << type;
  }
}

// SES-19
TEST_F(SessionRoutes, SayWhatIsWrongWithABody) {
  expect_fault(bench_.init("a/b", "tok"), "/session_id");
  expect_fault(bench_.init(std::string(100'000, 'x'), "tok"), "/session_id");
  expect_fault(bench_.init("s", "to ken"), "/user_token");
  expect_fault(bench_.init("s", std::string(5000, 'x')), "/user_token");
  expect_fault(bench_.init("s", "tok", R"(,"backend_token":"a\r\nb")"), "/backend_token");
  expect_fault(bench_.init("s", "tok", R"(,"catalog":"mine")"), "/catalog");
  expect_fault(bench_.init("s", "tok", R"(,"contxt":"x")"), "/contxt");
  EXPECT_EQ(bench_.init("s", "tok", R"(,"context":"unknown")").status, 400);
  expect_fault(bench_.ask("POST", "/admin/session/init", R"({"user_token":"t","user_id":7})"), "/session_id");
  expect_fault(bench_.ask("POST", "/admin/session/init", R"({"session_id":"s","user_token":"t","user_id":1.5})"),
               "/user_id");
  expect_fault(bench_.ask("POST", "/admin/session/init", "[]"), "");
  EXPECT_EQ(bench_.ask("POST", "/admin/session/init", "{").status, 400);
  EXPECT_EQ(bench_.ask("POST", "/admin/session/init", "").status, 400);
  EXPECT_EQ(bench_.ask("POST", "/admin/session/init", std::string(std::size_t{2} << 20U, ' ')).status, 413);
  expect_fault(bench_.ask("POST", "/admin/tools/register", R"({"session_id":"s","tools":{}})"), "/tools");
  expect_fault(bench_.ask("POST", "/admin/tools/register", R"({"session_id":"s","tools":[]})"), "/tools");
  expect_fault(bench_.ask("POST", "/admin/tools/register", R"({"session_id":"s","tools":[1]})"), "/tools/0");
  EXPECT_EQ(bench_.status_for("tok"), 401);
}

TEST_F(SessionRoutes, LimitTheToolsOfOneSession) {
  bench_.init("s", "tok");
  std::vector<std::string> many;
  for (std::size_t i = 0; i < gateway::ToolSessions::kMaxTools; ++i)
    many.push_back(tool(fmt::format("t{}", i)));
  EXPECT_EQ(bench_.add("s", many).status, 200);
  EXPECT_EQ(bench_.add("s", {tool("one_more")}).status, 413);
  EXPECT_EQ(bench_.add("s", {tool("t0", R"(,"title":"again")")}).status, 200);
  EXPECT_THAT(bench_.list("s").json().at("tools").as_array(), SizeIs(gateway::ToolSessions::kMaxTools));
}

TEST_F(SessionRoutes, RefuseATokenThatIsSomebodyElses) {
  bench_.gateway.set_access({std::make_shared<const gateway::Principals>(
                                 std::vector<gateway::PrincipalSettings>{{.name = "ci", .token = Secret("ci-token")}},
                                 gateway::Anonymous::served),
                             {}});
  bench_.init("a", "tok");
  EXPECT_EQ(bench_.init("b", "tok").status, 409);
  EXPECT_EQ(bench_.add("b", {tool("t")}, R"(,"user_token":"tok")").status, 409);
  EXPECT_EQ(bench_.init("b", "ci-token").status, 409);
  EXPECT_EQ(bench_.list("b").status, 404);
  bench_.cleanup("a");
  EXPECT_EQ(bench_.init("b", "tok").status, 200);
}

TEST_F(SessionRoutes, RefuseASessionOfAnotherUser) {
  bench_.init("s", "tok");
  const auto refused = bench_.ask("POST", "/admin/session/init", R"({"session_id":"s","user_token":"x","user_id":8})");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(bench_.status_for("x"), 401);
  EXPECT_EQ(bench_.status_for("tok"), 200);
}

TEST_F(SessionRoutes, GiveASessionANewTokenInPlaceOfTheOld) {
  bench_.init("s", "old");
  bench_.add("s", {tool("a")});
  EXPECT_EQ(bench_.init("s", "new").json().at("status"), "updated");
  EXPECT_EQ(bench_.status_for("old"), 401);
  EXPECT_THAT(bench_.tools_of("new"), ElementsAre("a"));
}

TEST_F(SessionRoutes, ShowTheSharedCatalogUnlessTheSessionIsToHaveItsOwnAlone) {
  const TestUpstream upstream;
  bench_.ask("POST", "/admin/upstreams", {{"name", "bank"}, {"url", upstream.url()}});
  bench_.refresh("bank");
  bench_.init("a", "tok_a");
  bench_.init("b", "tok_b", R"(,"catalog":"session")");
  bench_.add("a", {tool("run_query"), tool("bank_ping")});
  bench_.add("b", {tool("run_query")});
  EXPECT_THAT(bench_.tools_of("tok_a"), ElementsAre("bank_ping", "run_query"));
  EXPECT_THAT(bench_.tools_of("tok_b"), ElementsAre("run_query"));
  EXPECT_THAT(bench_.call_as("tok_b", "bank_ping", "{}").body, HasSubstr("-32602"));
  // The session's own tool shadows the shared one, and the operator sees that.
  bench_.call_as("tok_a", "bank_ping");
  EXPECT_THAT(bench_.backend.asked(), SizeIs(1));
  EXPECT_EQ(bench_.list("a").json().at("tools").at(0).at("shadows"), "bank");
  bench_.drop("a", "bank_ping");
  EXPECT_EQ(bench_.call_as("tok_a", "bank_ping", "{}").json().at("result").at("content").at(0).at("text"), "pong");
}

// SEC-08
TEST_F(SessionRoutes, AreAuditedWithTheKeyThatWasUsed) {
  const std::string ops = fmt::format("X-Admin-Secret: {}\r\n", kOpsSecret);
  bench_.send("POST", "/admin/session/init", R"({"session_id":"s","user_token":"tok-secret","user_id":7})", ops);
  bench_.add("s", {tool("a", R"(,"fixed_params":{"k":"fixed-secret"})")});
  bench_.drop("s", "a");
  bench_.cleanup("s");
  bench_.init("s/x", "tok-secret");
  const auto audit = bench_.ask("GET", "/admin/audit");
  EXPECT_THAT(audit.body, Not(HasSubstr("-secret")));
  std::vector<std::string> lines;
  for (const auto& one : audit.json().at("audit").as_array()) {
    lines.push_back(fmt::format("{} {} {}", std::string_view(one.at("who").as_string()),
                                std::string_view(one.at("what").as_string()),
                                boost::json::serialize(one.at("detail"))));
  }
  EXPECT_THAT(lines, ElementsAre(R"(admin session.cleanup {"session_id":"s","removed":0})",
                                 R"(admin tools.unregister {"session_id":"s","tool":"a"})",
                                 R"(admin tools.register {"session_id":"s","tools":["a"]})",
                                 R"(ops session.init {"session_id":"s","status":"created"})"));
}

// SES-22
TEST(SessionRoutesAfterARestart, HaveSessionsTokensAndTools) {
  store::MemoryStore store;
  TestBackend backend;
  {
    SessionFixture fixture(store);
    fixture.init("kept", "tok", R"(,"backend_token":"for-the-back-end","catalog":"session")");
    fixture.add("kept",
                {tool_text("run_query", backend.url(), R"(,"fixed_params":{"n":42})"), tool_text("b", backend.url())});
    fixture.drop("kept", "b");
    fixture.init("gone", "tok_gone");
    fixture.cleanup("gone");
  }
  SessionFixture fixture(store);
  EXPECT_TRUE(fixture.loaded);
  EXPECT_THAT(fixture.tools_of("tok"), ElementsAre("run_query"));
  EXPECT_EQ(fixture.status_for("tok_gone"), 401);
  fixture.call_as("tok", "run_query");
  ASSERT_THAT(backend.asked(), SizeIs(1));
  EXPECT_EQ(backend.asked().front().authorization, "Bearer for-the-back-end");
  EXPECT_EQ(backend.asked().front().body, R"({"query":"x","n":42,"action":"open_table"})");
  EXPECT_EQ(fixture.init("kept", "tok").json().at("status"), "updated");
}

// SES-23
TEST(SessionRoutesOnAnOpenNetwork, RefuseToolsWithin) {
  store::MemoryStore store;
  SessionFixture fixture(store, {}, {});
  fixture.init("s", "tok");
  const auto refused = fixture.add("s", {tool_text("t", fixture.backend.url())});
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("egress"));
  // An origin that the configuration file trusts is trusted only for the file's own upstreams.
  fixture.egress.trust({std::string(net::Url::parse(fixture.backend.url())->origin())});
  EXPECT_EQ(fixture.add("s", {tool_text("t", fixture.backend.url())}).status, 400);
  // The rules are applied again to each connection.
  fixture.egress.set_rules({.allow_loopback = true});
  EXPECT_EQ(fixture.add("s", {tool_text("t", fmt::format("http://127.0.0.1:{}/", fixture.backend.port()))}).status,
            200);
  fixture.egress.set_rules({});
  EXPECT_THAT(fixture.call_as("tok", "t").body, HasSubstr("may not connect"));
  EXPECT_THAT(fixture.backend.asked(), IsEmpty());
}

}  // namespace
}  // namespace proteus::admin::test
