#include "providers/http_tool/http_tool_call.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

#include "base/testing/test_run.hpp"
#include "net/http_client/egress_rules.hpp"
#include "net/testing/closed_port.hpp"
#include "providers/http_tool/arguments.hpp"
#include "providers/http_tool/http_tool_reader.hpp"
#include "providers/testing/test_backend.hpp"

namespace proteus::providers {
namespace {

using test::TestBackend;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class HttpToolCalls : public testing::Test {
 protected:
  ~HttpToolCalls() override {
    http_.close();
    proteus::test::settle(io_);
  }

  HttpToolPointer tool(std::string_view path = "/fetch", std::string_view members = {}) {
    return tool_at(backend_.url(path), members);
  }
  HttpToolPointer tool_at(std::string_view url, std::string_view members = {}) {
    auto outcome = read_http_tool(test::tool_text("run_query", url, members), schemas_, {});
    return std::get<ReadTool>(outcome).tool;
  }
  boost::json::value call(const HttpToolPointer& tool, std::string_view arguments = R"("query":"x")",
                          HttpToolLimits limits = {}, mcp::Era era = mcp::Era::modern) {
    const auto reply = proteus::test::run(io_, call_http_tool(http_,
                                                              {.tool = *tool,
                                                               .arguments = arguments,
                                                               .bearer = bearer_,
                                                               .era = era,
                                                               .clock = clock_,
                                                               .background = background_},
                                                              limits));
    return boost::json::parse("{" + reply.members.str() + "}");
  }
  static std::string text(const boost::json::value& result) {
    return std::string(result.at("content").at(0).at("text").as_string());
  }
  static bool is_error(const boost::json::value& result) { return result.as_object().contains("isError"); }

  // Expects that a call of `path` fails with an error that contains `says`, and nothing of the back end's answer.
  void expect_error(std::string_view path, std::string_view says) {
    const auto result = call(tool(path));
    EXPECT_TRUE(is_error(result)) << path;
    EXPECT_THAT(text(result), HasSubstr(std::string(says))) << path;
    EXPECT_THAT(text(result), Not(HasSubstr("secret"))) << path;
    EXPECT_THAT(text(result), Not(HasSubstr("127.0.0.1"))) << path;
    EXPECT_FALSE(result.as_object().contains("structuredContent"));
  }

  boost::asio::io_context io_{1};
  SystemClock clock_;
  BackgroundThreads background_{1};
  net::EgressRules rules_{{.allow_loopback = true}};
  net::HttpClient http_{io_, clock_, {.address_filter = [this](const net::Url& url, const auto& address) {
                          return rules_.check(url, address);
                        }}};
  SharedSchemas schemas_;
  TestBackend backend_;
  Secret bearer_{"tok_backend"};
};

// SES-10
TEST_F(HttpToolCalls, SendArgumentsFixedParametersActionAndToken) {
  call(tool("/fetch", R"(,"fixed_params":{"connector_id":42})"), R"("query":"select 1","limit":5)");
  ASSERT_THAT(backend_.asked(), SizeIs(1));
  const auto asked = backend_.asked().front();
  EXPECT_EQ(asked.method, "POST");
  EXPECT_EQ(asked.path, "/fetch");
  EXPECT_EQ(asked.authorization, "Bearer tok_backend");
  EXPECT_EQ(asked.body, R"({"query":"select 1","limit":5,"connector_id":42,"action":"open_table"})");
}

TEST_F(HttpToolCalls, ReuseAConnection) {
  call(tool());
  call(tool());
  EXPECT_EQ(http_.stats().opened, 1U);
}

TEST_F(HttpToolCalls, GiveJsonAsStructureAndAsText) {
  backend_.set("/fetch", {.body = "{\"rows\":[1.50,\n2],\"x\":\"\xc3\xa9\"}"});
  const auto result = call(tool());
  EXPECT_FALSE(is_error(result));
  EXPECT_EQ(result.at("structuredContent"), boost::json::parse(R"({"rows":[1.5,2],"x":"é"})"));
  EXPECT_EQ(boost::json::parse(text(result)), result.at("structuredContent"));
}

TEST_F(HttpToolCalls, GiveAStructureThatIsNoObjectOnlyToThoseWhoKnowSuch) {
  backend_.set("/fetch", {.body = "[1]", .content_type = "application/vnd.x+json; charset=utf-8"});
  EXPECT_EQ(call(tool()).at("structuredContent"), boost::json::parse("[1]"));
  const auto legacy = call(tool(), R"("query":"x")", {}, mcp::Era::legacy);
  EXPECT_FALSE(legacy.as_object().contains("structuredContent"));
  EXPECT_EQ(text(legacy), "[1]");
}

TEST_F(HttpToolCalls, TakeNothingForJsonThatIsNone) {
  for (const char* const body : {R"({"rows":[1,]})", R"({"rows":1} x)", "{\"x\":\"\xff\"}", R"({"x":01})",
                                 R"({"rows":[{"id":1,"id":2}]})", R"({"a":1,"\u0061":2})", R"({"x":1e9999999999})"}) {
    backend_.set("/fetch", {.body = body});
    expect_error("/fetch", "JSON");
  }
  backend_.set("/fetch", {.body = std::string(129, '[') + std::string(129, ']')});
  expect_error("/fetch", "JSON");
  backend_.set("/fetch", {.body = std::string(128, '[') + std::string(128, ']')});
  EXPECT_FALSE(is_error(call(tool(), R"("query":"x")", {}, mcp::Era::legacy)));
}

TEST_F(HttpToolCalls, GiveAnythingElseAsText) {
  backend_.set("/fetch", {.body = "3 rows", .content_type = "text/plain"});
  EXPECT_EQ(text(call(tool())), "3 rows");
  backend_.set("/fetch", {.status = 204, .body = ""});
  const auto nothing = call(tool());
  EXPECT_FALSE(is_error(nothing));
  EXPECT_THAT(text(nothing), HasSubstr("204"));
}

// SES-14
TEST_F(HttpToolCalls, ExplainFailuresAndLeakNothing) {
  backend_.set("/400", {.status = 400, .body = "secret"});
  backend_.set("/401", {.status = 401, .body = "secret"});
  backend_.set("/500", {.status = 500, .body = R"({"trace":"secret"})"});
  backend_.set("/garbage", {.body = "{\"secret\":"});
  backend_.set("/gzip", {.body = "secret", .fields = "Content-Encoding: gzip\r\n"});
  backend_.set("/huge", {.body = std::string(std::size_t{5} << 20U, '1')});
  expect_error("/400", "refused the call (400 Bad Request)");
  expect_error("/401", "credentials");
  expect_error("/500", "failed (500");
  expect_error("/garbage", "JSON");
  expect_error("/gzip", "encoded");
  expect_error("/huge", "larger than");
}

// SES-14
TEST_F(HttpToolCalls, ExplainWhatCannotBeReached) {
  const net::test::ClosedPort closed;
  const auto result = call(tool_at(fmt::format("http://127.0.0.1:{}/fetch", closed.number())));
  EXPECT_TRUE(is_error(result));
  EXPECT_THAT(text(result), AllOf(HasSubstr("cannot be reached"), Not(HasSubstr("127.0.0.1"))));
}

// SES-14
TEST_F(HttpToolCalls, EndWhereTheBackEndTakesTooLong) {
  backend_.hold("/slow");
  const auto by_limit = call(tool("/slow"), R"("query":"x")", {.timeout = std::chrono::milliseconds(80)});
  EXPECT_TRUE(is_error(by_limit));
  EXPECT_THAT(text(by_limit), HasSubstr("within 0.08 s"));
  const auto by_tool = call(tool("/slow", R"(,"timeout":0.05)"));
  EXPECT_THAT(text(by_tool), HasSubstr("within 0.05 s"));
  backend_.release();
}

TEST_F(HttpToolCalls, HoldAnswersAgainstTheOutputSchema) {
  const auto checked = [this](std::string body, std::string type = "application/json") {
    backend_.set("/fetch", {.body = std::move(body), .content_type = std::move(type)});
    return call(tool("/fetch", R"(,"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},)"
                               R"("required":["n"]})"));
  };
  EXPECT_EQ(checked(R"({"n":1})").at("structuredContent").at("n"), 1);
  EXPECT_THAT(text(checked(R"({"n":"x"})")), HasSubstr("/n"));
  EXPECT_TRUE(is_error(checked("{}")));
  EXPECT_TRUE(is_error(checked("n", "text/plain")));
  // A large answer is checked on another thread.
  const std::string more = fmt::format(R"("more":"{}")", std::string(100'000, 'x'));
  EXPECT_EQ(checked(fmt::format(R"({{"n":1,{}}})", more)).at("structuredContent").at("n"), 1);
  EXPECT_THAT(text(checked(fmt::format(R"({{"n":"x",{}}})", more))), HasSubstr("/n"));
  EXPECT_TRUE(is_error(checked(fmt::format(R"({{"n":1,{})", more))));
}

// SES-23, SEC-01
TEST_F(HttpToolCalls, FollowRedirectsWithinReason) {
  const auto to = [](std::string location, unsigned status = 302) {
    return TestBackend::Reply{.status = status, .body = "", .fields = fmt::format("Location: {}\r\n", location)};
  };
  TestBackend other;
  backend_.set("/see", to("/result"));
  backend_.set("/again", to("/fetch", 307));
  backend_.set("/loop", to("/loop"));
  backend_.set("/away", to(other.url("/page")));
  backend_.set("/away307", to(other.url("/page"), 307));
  backend_.set("/metadata", to("http://169.254.169.254/latest/"));
  backend_.set("/nowhere", {.status = 302, .body = ""});

  EXPECT_FALSE(is_error(call(tool("/see"))));
  EXPECT_THAT(backend_.asked().back(), AllOf(Field(&TestBackend::Asked::method, "GET"),
                                             Field(&TestBackend::Asked::authorization, "Bearer tok_backend")));
  EXPECT_FALSE(is_error(call(tool("/again"))));
  EXPECT_EQ(backend_.asked().back().body, R"({"query":"x","action":"open_table"})");
  EXPECT_FALSE(is_error(call(tool("/away"))));
  EXPECT_THAT(other.asked(),
              ElementsAre(AllOf(Field(&TestBackend::Asked::method, "GET"),
                                Field(&TestBackend::Asked::authorization, ""), Field(&TestBackend::Asked::body, ""))));
  expect_error("/away307", "another host");
  expect_error("/loop", "not followed");
  expect_error("/nowhere", "not followed");
  expect_error("/metadata", "may not connect");
  EXPECT_THAT(other.asked(), SizeIs(1));
}

TEST_F(HttpToolCalls, GoOnWithGetOnceTheyWereToldTo) {
  const auto to = [](std::string location, unsigned status) {
    return TestBackend::Reply{.status = status, .body = "", .fields = fmt::format("Location: {}\r\n", location)};
  };
  TestBackend other;
  backend_.set("/see", to("/moved", 303));
  backend_.set("/moved", to("/result", 307));
  backend_.set("/see-away", to("/moved-away", 302));
  backend_.set("/moved-away", to(other.url("/page"), 308));

  EXPECT_FALSE(is_error(call(tool("/see"))));
  EXPECT_THAT(backend_.asked(),
              ElementsAre(Field(&TestBackend::Asked::method, "POST"), Field(&TestBackend::Asked::method, "GET"),
                          AllOf(Field(&TestBackend::Asked::method, "GET"), Field(&TestBackend::Asked::body, ""))));
  EXPECT_FALSE(is_error(call(tool("/see-away"))));
  EXPECT_THAT(other.asked(),
              ElementsAre(AllOf(Field(&TestBackend::Asked::method, "GET"),
                                Field(&TestBackend::Asked::authorization, ""), Field(&TestBackend::Asked::body, ""))));
}

}  // namespace
}  // namespace proteus::providers
