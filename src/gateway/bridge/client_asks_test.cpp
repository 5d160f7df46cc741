#include "gateway/bridge/client_asks.hpp"

#include <gmock/gmock.h>

#include "gateway/testing/bridge_fixture.hpp"
#include "net/testing/http_test_server.hpp"
#include "server/http/http_answer.hpp"

namespace proteus::gateway {
namespace {

using namespace test;
using server::LegacyClient;
using server::rpc;
using server::text_of;

// A legacy upstream that asks in the middle of a call, and answers without waiting.
class Impatient {
 public:
  std::uint16_t port() const { return server_.port(); }

 private:
  static Task<> handle(net::Exchange& exchange) {
    if (exchange.request().method() != "POST")
      co_return co_await server::reply(exchange, server::HttpAnswer::empty(405));
    const auto message = boost::json::parse(exchange.request().body()).as_object();
    if (!message.contains("method") || !message.contains("id"))
      co_return co_await server::reply(exchange, server::HttpAnswer::empty(202));
    const std::string_view method = message.at("method").as_string();
    if (method == "server/discover") co_return co_await server::reply(exchange, server::HttpAnswer::empty(400));
    const std::string id = boost::json::serialize(message.at("id"));
    const auto answer = [&id](std::string_view result) {
      return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", id, result);
    };
    if (method == "initialize") {
      const std::string hello = answer(
          R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"i","version":"1"}})");
      co_return co_await server::reply(exchange, server::HttpAnswer::json(hello, "Mcp-Session-Id: s\r\n"));
    }
    if (method == "tools/list") {
      const std::string list = answer(R"({"tools":[{"name":"ask","inputSchema":{"type":"object"}}]})");
      co_return co_await server::reply(exchange, server::HttpAnswer::json(list));
    }
    const std::string events =
        server::sse_frame(
            R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}})") +
        server::sse_frame(answer(R"({"content":[{"type":"text","text":"without you"}]})"));
    co_await exchange.reply({.status = 200, .content_type = server::kEventsType}, events);
  }

  net::TestServer server_{handle};
};

// BRG-04, PRO-06: what is asked ends with the call that it was asked in, and an answer that comes late finds nothing.
TEST(ClientAsks, EndWithTheirCall) {
  Impatient upstream;
  auto settings = upstream_at("i", upstream.port());
  settings.prefix = "";
  TestGateway gateway({settings});
  gateway.discover();
  for (int i = 0; i < 20; ++i) {
    LegacyClient client(gateway.port(), "2025-11-25", kEverything);
    client.client.send_request("POST", client.fields(), rpc("7", "tools/call", R"("name":"ask","arguments":{})"));
    client.client.read_answer();
    std::string question;
    std::string said;
    while (const auto event = client.client.read_event()) {
      if (event->data.empty()) continue;
      const auto message = event->json();
      if (!message.as_object().contains("method")) {
        said = text_of(message);
        break;
      }
      if (message.at("method") == "elicitation/create") question = boost::json::serialize(message.at("id"));
    }
    EXPECT_EQ(said, "without you");
    if (question.empty()) continue;
    const auto late =
        RawClient(gateway.port())
            .request("POST", client.fields(),
                     fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{{"action":"decline"}}}})", question));
    EXPECT_LT(late.status, 500);
  }
}

}  // namespace
}  // namespace proteus::gateway
