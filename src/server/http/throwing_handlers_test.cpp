#include <future>
#include <stdexcept>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include "server/testing/old_client.hpp"

// Handlers that throw: the request is answered with an error, and the server goes on.
namespace proteus::server {
namespace {

boost::asio::awaitable<Outcome<ToolResult>> report_and_throw(Context& context) {
  context.progress(1);
  // The progress is written before the handler goes on.
  for (int turn = 0; turn < 100; ++turn)
    co_await boost::asio::post(co_await boost::asio::this_coro::executor, boost::asio::use_awaitable);
  throw 42;  // NOLINT(hicpp-exception-baseclass): what a careless library does
}

class ThrowingHandlers : public ::testing::Test {
 protected:
  ThrowingHandlers() : server({.name = "test", .version = "1"}) {
    server.add_tool({.name = "echo"}, [](Context&) { return ToolResult::text("echoed"); }).value();
    server
        .add_tool({.name = "throw"},
                  [](Context&) -> Outcome<ToolResult> {
                    throw 42;  // NOLINT(hicpp-exception-baseclass)
                  })
        .value();
    add_async_tool(server, {.name = "report"}, report_and_throw).value();
    server.add_prompt({.name = "greet"}, [](Context&) -> Outcome<PromptResult> { throw std::runtime_error("secret"); })
        .value();
    server.add_completion("greet", "who",
                          [](const CompletionRequest&) -> Completion { throw std::runtime_error("secret"); });
    HttpOptions options;
    options.old_sse_path = "/sse";
    port = server.listen(options).value();
  }

  static std::string complete(std::string_view id, std::string_view more = {}) {
    return rpc(
        id, "completion/complete",
        fmt::format(R"("ref":{{"type":"ref/prompt","name":"greet"}},"argument":{{"name":"who","value":"a"}}{})", more));
  }
  static std::string call(std::string_view id, std::string_view name, std::string_view more = {}) {
    return rpc(id, "tools/call", fmt::format(R"("name":"{}"{})", name, more));
  }
  static constexpr std::string_view kWithProgress = R"(,"_meta":{"progressToken":"p"})";

  Server server;
  std::uint16_t port = 0;
};

TEST_F(ThrowingHandlers, FailARequestOfEitherEra) {
  LegacyClient legacy(port);
  RawClient modern(port);
  for (const auto& body : {complete("1"), call("2", "throw"), rpc("3", "prompts/get", R"("name":"greet")")}) {
    const auto answer = legacy.post(body);
    EXPECT_EQ(code_of(answer.json()), -32603) << body;
    EXPECT_EQ(answer.body.find("secret"), std::string::npos);
  }
  EXPECT_EQ(code_of(modern_call(modern, "throw").json()), -32603);
  const auto completed =
      modern.request("POST", modern_fields("completion/complete"), complete("4", "," + modern_meta()));
  EXPECT_EQ(code_of(completed.json()), -32603);
  EXPECT_EQ(text_of(modern_call(modern, "echo").json()), "echoed");
}

TEST_F(ThrowingHandlers, EndTheStreamOfTheirRequestWithAnError) {
  LegacyClient legacy(port, "2025-06-18");
  legacy.client.send_request("POST", legacy.fields(), call("1", "report", kWithProgress));
  RawClient modern(port);
  modern.send_request("POST", modern_fields("tools/call", "report"),
                      call("1", "report", "," + modern_meta("{}", R"(,"progressToken":"p")")));
  for (RawClient* const client : {&legacy.client, &modern}) {
    EXPECT_EQ(client->read_answer().status, 200);
    EXPECT_EQ(client->read_event()->json().at("method"), "notifications/progress");
    EXPECT_EQ(code_of(client->read_event()->json()), -32603);
    EXPECT_FALSE(client->read_event());
  }
  EXPECT_EQ(text_of(legacy.call("1", "echo").json()), "echoed") << "the id is free again";
}

TEST_F(ThrowingHandlers, FailOneRequestOfABatch) {
  LegacyClient client(port, "2025-03-26");
  client.client.send_request("POST", client.fields(),
                             fmt::format("[{},{},{}]", rpc("1", "ping", ""), complete("2"), call("3", "echo")));
  EXPECT_EQ(client.client.read_answer().status, 200);
  EXPECT_EQ(client.client.read_event()->json().at("id"), 1);
  EXPECT_EQ(code_of(client.client.read_event()->json()), -32603);
  EXPECT_EQ(client.client.read_event()->json().at("id"), 3);
  EXPECT_FALSE(client.client.read_event());
}

TEST_F(ThrowingHandlers, FailARequestOverTheOldTransport) {
  OldClient client(port);
  client.initialize();
  EXPECT_EQ(code_of(client.ask(complete("1"))), -32603);
  EXPECT_EQ(text_of(client.ask(call("1", "echo"))), "echoed") << "the id is free again";
  auto stopped = std::async(std::launch::async, [this] { server.stop(); });
  EXPECT_FALSE(client.stream.read_event());
  client.stream.close();
  stopped.get();
}

}  // namespace
}  // namespace proteus::server
