#include <atomic>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include "server/testing/test_server.hpp"

namespace proteus::server {
namespace {

boost::asio::awaitable<Outcome<ToolResult>> wait_for_ever(Context& context, std::atomic<bool>& cancelled) {
  context.progress(1);
  try {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
    timer.expires_at(boost::asio::steady_timer::time_point::max());
    co_await timer.async_wait(boost::asio::use_awaitable);
  } catch (...) {
    cancelled = true;
    cancelled.notify_all();
    throw;
  }
  co_return ToolResult::text("unreachable");
}

boost::asio::awaitable<Outcome<ToolResult>> report(Context& context, int times) {
  for (int i = 1; i <= times; ++i)
    context.progress(i, times, std::string(1000, 'p'));
  co_return ToolResult::text("reported");
}

class ModernHttp : public ::testing::Test {
 protected:
  ModernHttp()
      : server({.name = "test", .version = "1"},
               {.resources = true, .page_size = 2, .list_ttl = std::chrono::seconds(3)}) {
    server
        .add_tool({.name = "echo", .description = "Echoes"},
                  [](Context& context) -> Outcome<ToolResult> { return ToolResult::json(context.arguments()); })
        .value();
    server
        .add_tool({.name = "mirrored",
                   .input_schema = {{"type", "object"},
                                    {"properties",
                                     {{"region", {{"type", "string"}, {"x-mcp-header", "Region"}}},
                                      {"count", {{"type", "integer"}, {"x-mcp-header", "Count"}}}}}}},
                  [](Context&) -> Outcome<ToolResult> { return ToolResult::text("ok"); })
        .value();
    server
        .add_tool({.name = "log"},
                  [](Context& context) -> Outcome<ToolResult> {
                    context.log(LogLevel::debug, "quiet");
                    context.log(LogLevel::error, "loud");
                    return ToolResult::text("logged");
                  })
        .value();
    server.add_tool({.name = "throw"}, [](Context&) -> Outcome<ToolResult> { throw std::runtime_error("secret"); })
        .value();
    add_async_tool(server, {.name = "wait"}, [this](Context& context) {
      return wait_for_ever(context, cancelled);
    }).value();
    server
        .add_resource({.uri = "test://a", .name = "a"},
                      [](Context&) -> Outcome<ResourceResult> {
                        return ResourceResult{.contents = {{.text = "A"}}, .ttl = std::chrono::seconds(9)};
                      })
        .value();
    port = server.listen().value();
  }

  RawClient::Answer post(std::string_view fields, std::string_view body) {
    RawClient client(port);
    return client.request("POST", fields, body);
  }
  RawClient::Answer list(std::string_view cursor = {}) {
    const std::string member = cursor.empty() ? "" : fmt::format(R"("cursor":"{}",)", cursor);
    return post(modern_fields("tools/list"), rpc("1", "tools/list", member + modern_meta()));
  }

  std::atomic<bool> cancelled = false;
  Server server;
  std::uint16_t port = 0;
};

// PRO-03
TEST_F(ModernHttp, AnswersDiscoverWithVersionsCapabilitiesAndIdentity) {
  const auto answer = post(modern_fields("server/discover"), rpc("1", "server/discover", modern_meta()));
  EXPECT_EQ(answer.status, 200);
  const auto result = answer.json().at("result");
  EXPECT_EQ(result.at("supportedVersions").at(0), "2026-07-28");
  EXPECT_EQ(result.at("capabilities").at("tools").at("listChanged"), true);
  EXPECT_EQ(result.at("_meta").at("io.modelcontextprotocol/serverInfo").at("name"), "test");
  EXPECT_EQ(result.at("cacheScope"), "public");
}

// PRO-03
TEST_F(ModernHttp, ChecksMetaThenHeadersThenVersionThenMethod) {
  // Wrong in every respect: the first rule that applies decides.
  const auto no_meta = post("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: other\r\n", rpc("7", "nope", ""));
  EXPECT_EQ(no_meta.status, 400);
  EXPECT_EQ(code_of(no_meta.json()), -32602);
  EXPECT_EQ(no_meta.json().at("id"), 7);

  std::string meta = modern_meta();
  meta.replace(meta.find("2026-07-28"), 10, "1999-01-01");
  const auto mismatch = post(modern_fields("nope"), rpc("7", "nope", meta));
  EXPECT_EQ(mismatch.status, 400);
  EXPECT_EQ(code_of(mismatch.json()), -32020);

  const auto version = post("MCP-Protocol-Version: 1999-01-01\r\nMcp-Method: nope\r\n", rpc("7", "nope", meta));
  EXPECT_EQ(version.status, 400);
  EXPECT_EQ(code_of(version.json()), -32022);
  EXPECT_EQ(version.json().at("error").at("data").at("requested"), "1999-01-01");
  EXPECT_EQ(version.json().at("error").at("data").at("supported").at(0), "2026-07-28");

  const auto unknown = post(modern_fields("nope"), rpc("7", "nope", modern_meta()));
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(code_of(unknown.json()), -32601);
}

// PRO-03
TEST_F(ModernHttp, RefusesMethodsThatTheEraRemoved) {
  for (const std::string method : {"initialize", "ping", "logging/setLevel", "resources/subscribe"}) {
    const auto answer = post(modern_fields(method), rpc("1", method, modern_meta()));
    EXPECT_EQ(answer.status, 404) << method;
    EXPECT_EQ(code_of(answer.json()), -32601) << method;
  }
}

// PRO-04
TEST_F(ModernHttp, HoldsHeadersAgainstTheBody) {
  const std::string body = rpc("1", "tools/call", R"("name":"echo","arguments":{},)" + modern_meta());
  EXPECT_EQ(post(modern_fields("tools/call", "echo"), body).status, 200);
  EXPECT_EQ(
      post("mcp-protocol-version: 2026-07-28\r\nMCP-METHOD:   tools/call  \r\nmcp-name: =?base64?ZWNobw==?=\r\n", body)
          .status,
      200);
  for (const std::string& fields :
       {modern_fields("tools/call"), modern_fields("tools/call", "other"), modern_fields("Tools/Call", "echo"),
        modern_fields("tools/call", "=?base64?ZWNobw=?="), modern_fields("tools/call", "echo") + "mcp-name: other\r\n",
        std::string("Mcp-Method: tools/call\r\nMcp-Name: echo\r\n")}) {
    const auto answer = post(fields, body);
    EXPECT_EQ(answer.status, 400) << fields;
    EXPECT_EQ(code_of(answer.json()), -32020) << fields;
  }
}

// PRO-04
TEST_F(ModernHttp, HoldsParameterHeadersAgainstTheArguments) {
  const auto call = [&](std::string_view arguments, std::string_view headers) {
    return post(
        modern_fields("tools/call", "mirrored") + std::string(headers),
        rpc("1", "tools/call", fmt::format(R"("name":"mirrored","arguments":{},{})", arguments, modern_meta())));
  };
  EXPECT_EQ(call(R"({"region":"eu","count":42})", "mcp-param-region: eu\r\nMcp-Param-Count: 42.0\r\n").status, 200);
  EXPECT_EQ(call(R"({"region":null})", "").status, 200);
  EXPECT_EQ(call("{}", "Mcp-Param-Unknown: x\r\n").status, 200);
  EXPECT_EQ(call(R"({"region":"eu"})", "").status, 400);
  EXPECT_EQ(call(R"({"region":"eu"})", "Mcp-Param-Region: us\r\n").status, 400);
  EXPECT_EQ(call("{}", "Mcp-Param-Region: eu\r\n").status, 400);
  EXPECT_EQ(call(R"({"region":"eu"})", "Mcp-Param-Region: eu\r\nMcp-Param-Region: us\r\n").status, 400);
}

TEST_F(ModernHttp, TakesRawResultsHoweverTheyAreSpaced) {
  const auto result_of = [&](std::string text) {
    server.add_raw_tool({.name = "raw"}, [text = std::move(text)](Context&) -> Outcome<std::string> { return text; })
        .value();
    const std::string body = rpc("1", "tools/call", R"("name":"raw",)" + modern_meta());
    return post(modern_fields("tools/call", "raw"), body).json();
  };
  EXPECT_EQ(result_of(" { \n } ").at("result").at("resultType"), "complete");
  EXPECT_EQ(result_of("\n{ \"content\": [ ] }\n").at("result").at("content"), boost::json::array());
  for (const std::string wrong : {"", "  ", "{", "[]", "null"})
    EXPECT_EQ(code_of(result_of(wrong)), -32603) << wrong;
}

TEST_F(ModernHttp, PutsAResultOfSeveralLinesIntoOneEvent) {
  for (const std::string text : {"{ \"content\":\n\r\n[ ] }", R"({"content":[]})"}) {
    server
        .add_raw_tool({.name = "raw"},
                      [text](Context& context) -> Outcome<std::string> {
                        context.progress(1);
                        return text;
                      })
        .value();
    const std::string body = rpc("1", "tools/call", R"("name":"raw",)" + modern_meta("{}", R"(,"progressToken":1)"));
    const auto answer = post(modern_fields("tools/call", "raw"), body);
    const std::size_t last = answer.body.rfind("data: ");
    ASSERT_NE(last, std::string::npos) << answer.body;
    EXPECT_EQ(answer.body.find("data: "), 0U) << "progress comes first";
    EXPECT_NE(last, 0U);
    EXPECT_EQ(answer.body.find('\n', last), answer.body.size() - 2) << answer.body;
    const auto message = boost::json::parse(std::string_view(answer.body).substr(last + 6));
    EXPECT_EQ(message.at("result").at("content"), boost::json::array());
  }
}

// PRO-07
TEST_F(ModernHttp, StampsCachingOnWhatMustHaveItAndPagesAgree) {
  const auto first = list().json().at("result");
  EXPECT_EQ(first.at("ttlMs"), 3000);
  EXPECT_EQ(first.at("cacheScope"), "public");
  const auto second = list(first.at("nextCursor").as_string()).json().at("result");
  EXPECT_EQ(second.at("ttlMs"), first.at("ttlMs"));
  EXPECT_EQ(second.at("cacheScope"), first.at("cacheScope"));

  const auto read = post(modern_fields("resources/read", "test://a"),
                         rpc("1", "resources/read", R"("uri":"test://a",)" + modern_meta()));
  EXPECT_EQ(read.json().at("result").at("ttlMs"), 9000);
  EXPECT_EQ(read.json().at("result").at("cacheScope"), "private");

  RawClient client(port);
  EXPECT_FALSE(modern_call(client, "echo").json().at("result").as_object().contains("ttlMs"));
}

// PRO-08
TEST_F(ModernHttp, PagesCoverEveryToolOnceEvenWhileOneGoes) {
  std::vector<std::string> names;
  std::string cursor;
  for (int page = 0; page < 10; ++page) {
    const auto result = list(cursor).json().at("result");
    for (const auto& tool : result.at("tools").as_array())
      names.emplace_back(tool.at("name").as_string());
    if (page == 0) server.remove_tool(names.back());
    const auto* next = result.as_object().if_contains("nextCursor");
    if (next == nullptr) break;
    cursor = next->as_string();
  }
  EXPECT_EQ(names, (std::vector<std::string>{"echo", "log", "mirrored", "throw", "wait"}));
  EXPECT_EQ(code_of(list("!").json()), -32602);
}

// PRO-12
TEST_F(ModernHttp, ReturnsIdsExactlyAsSent) {
  for (const std::string id : {"-7", "12345678901234567890", R"("a\u0062c")", "\"\""}) {
    const auto answer = post(modern_fields("tools/list"), rpc(id, "tools/list", modern_meta()));
    EXPECT_NE(answer.body.find("\"id\":" + id + ","), std::string::npos) << answer.body;
  }
}

// PRO-05
TEST_F(ModernHttp, ListensToWhatWasAskedForAcknowledgingFirst) {
  RawClient listener(port);
  listener.send_request(
      "POST", modern_fields("subscriptions/listen"),
      rpc("\"sub\"", "subscriptions/listen",
          R"("notifications":{"toolsListChanged":true,"resourceSubscriptions":["test://a"]},)" + modern_meta()));
  const auto head = listener.read_answer();
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.field("content-type"), "text/event-stream");
  EXPECT_EQ(head.field("x-accel-buffering"), "no");  // PRO-18
  const auto acknowledged = listener.read_event()->json();
  EXPECT_EQ(acknowledged.at("method"), "notifications/subscriptions/acknowledged");
  EXPECT_EQ(acknowledged.at("params").at("notifications").at("toolsListChanged"), true);

  server.add_prompt({.name = "p"}, [](Context&) -> Outcome<PromptResult> { return PromptResult{}; }).value();
  server.resource_updated("test://other");
  server.resource_updated("test://a");
  server.remove_tool("echo");
  const auto updated = listener.read_event()->json();
  EXPECT_EQ(updated.at("method"), "notifications/resources/updated");
  EXPECT_EQ(updated.at("params").at("uri"), "test://a");
  const auto changed = listener.read_event()->json();
  EXPECT_EQ(changed.at("method"), "notifications/tools/list_changed");
  for (const auto& message : {acknowledged, updated, changed}) {
    EXPECT_EQ(message.at("params").at("_meta").at("io.modelcontextprotocol/subscriptionId"), "sub");
  }

  server.stop();
  const auto cancelled_notice = listener.read_event()->json();
  EXPECT_EQ(cancelled_notice.at("method"), "notifications/cancelled");
  EXPECT_EQ(cancelled_notice.at("params").at("requestId"), "sub");
  const auto result = listener.read_event()->json();
  EXPECT_EQ(result.at("id"), "sub");
  EXPECT_EQ(result.at("result").at("resultType"), "complete");
  EXPECT_FALSE(listener.read_event());
}

// PRO-09
TEST_F(ModernHttp, CancelsWhenTheClientClosesItsConnection) {
  RawClient client(port);
  client.send_request("POST", modern_fields("tools/call", "wait"),
                      rpc("1", "tools/call", R"("name":"wait",)" + modern_meta("{}", R"(,"progressToken":1)")));
  client.read_answer();
  ASSERT_TRUE(client.read_event());
  client.close();
  cancelled.wait(false);
  EXPECT_TRUE(cancelled);
}

// PRO-08: many messages at once are sent as they come, so that the limits of a stream apply.
TEST_F(ModernHttp, TellsMuchProgressInOrder) {
  constexpr int kTimes = 500;
  add_async_tool(server, {.name = "report"}, [](Context& context) { return report(context, kTimes); }).value();
  RawClient client(port);
  client.send_request("POST", modern_fields("tools/call", "report"),
                      rpc("1", "tools/call", R"("name":"report",)" + modern_meta("{}", R"(,"progressToken":1)")));
  const auto head = client.read_answer();
  EXPECT_EQ(head.field("content-type"), "text/event-stream");
  EXPECT_EQ(head.field("transfer-encoding"), "chunked");
  for (int i = 1; i <= kTimes; ++i)
    ASSERT_EQ(client.read_event()->json().at("params").at("progress"), i);
  EXPECT_EQ(text_of(client.read_event()->json()), "reported");
}

// PRO-08
TEST_F(ModernHttp, LogsOnlyWhatTheRequestAskedFor) {
  RawClient client(port);
  EXPECT_EQ(text_of(modern_call(client, "log").json()), "logged");
  const auto head = modern_call(client, "log", "", "{}", R"(,"io.modelcontextprotocol/logLevel":"warning")");
  EXPECT_EQ(head.field("content-type"), "text/event-stream");
  const auto message = client.read_event()->json();
  EXPECT_EQ(message.at("params").at("data"), "loud");
  EXPECT_EQ(text_of(client.read_event()->json()), "logged");
  EXPECT_FALSE(client.read_event());
}

TEST_F(ModernHttp, TellsAnAgentToListAgainWhenAToolIsUnknown) {
  RawClient client(port);
  const auto answer = modern_call(client, "gone");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(code_of(answer.json()), -32602);
  EXPECT_NE(answer.body.find("list them again"), std::string::npos);
}

TEST_F(ModernHttp, KeepsAHandlersExceptionToItself) {
  RawClient client(port);
  const auto answer = modern_call(client, "throw");
  EXPECT_EQ(code_of(answer.json()), -32603);
  EXPECT_EQ(answer.body.find("secret"), std::string::npos);
}

TEST_F(ModernHttp, ValidatesArgumentsSoThatAModelCanCorrectItself) {
  RawClient client(port);
  const auto answer = client.request(
      "POST", modern_fields("tools/call", "mirrored") + "Mcp-Param-Count: 1\r\n",
      rpc("1", "tools/call", R"("name":"mirrored","arguments":{"count":1,"region":7},)" + modern_meta()));
  // Headers are checked before the schema.
  EXPECT_EQ(code_of(answer.json()), -32020);
}

}  // namespace
}  // namespace proteus::server
