#include "gateway/bridge/client_asks.hpp"

#include <optional>
#include <string>

#include <gmock/gmock.h>

#include "base/tasks/waiting.hpp"
#include "gateway/testing/bridge_fixture.hpp"
#include "json/text.hpp"
#include "net/testing/http_test_server.hpp"
#include "server/http/http_answer.hpp"

namespace proteus::gateway {
namespace {

using namespace test;
using server::LegacyClient;
using server::rpc;
using server::text_of;

// A legacy upstream with one tool that asks in the middle of a call.
class Asking {
 public:
  virtual ~Asking() = default;
  std::uint16_t port() const { return server_.port(); }

 protected:
  // Answers a `tools/call`.
  virtual Task<> call(net::Exchange& exchange, std::string id) = 0;
  virtual void notified(const boost::json::object& /*message*/) {}

  static std::string answer(std::string_view id, std::string_view result) {
    return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", id, result);
  }
  static std::string text_answer(std::string_view id, std::string_view text) {
    return answer(id, fmt::format(R"({{"content":[{{"type":"text","text":{}}}]}})", json::quote(text)));
  }

 private:
  Task<> handle(net::Exchange& exchange) {
    if (exchange.request().method() != "POST")
      co_return co_await server::reply(exchange, server::HttpAnswer::empty(405));
    const auto message = boost::json::parse(exchange.request().body()).as_object();
    if (!message.contains("id")) notified(message);
    if (!message.contains("method") || !message.contains("id"))
      co_return co_await server::reply(exchange, server::HttpAnswer::empty(202));
    const std::string_view method = message.at("method").as_string();
    if (method == "server/discover") co_return co_await server::reply(exchange, server::HttpAnswer::empty(400));
    const std::string id = boost::json::serialize(message.at("id"));
    if (method == "initialize") {
      const std::string hello = answer(
          id,
          R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"i","version":"1"}})");
      co_return co_await server::reply(exchange, server::HttpAnswer::json(hello, "Mcp-Session-Id: s\r\n"));
    }
    if (method == "tools/list") {
      const std::string list = answer(id, R"({"tools":[{"name":"ask","inputSchema":{"type":"object"}}]})");
      co_return co_await server::reply(exchange, server::HttpAnswer::json(list));
    }
    co_await call(exchange, id);
  }

  net::TestServer server_{[this](net::Exchange& exchange) { return handle(exchange); }};
};

// Answers the call without waiting for the answer to its question.
class Impatient : public Asking {
  Task<> call(net::Exchange& exchange, std::string id) override {
    const std::string events =
        server::sse_frame(
            R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}})") +
        server::sse_frame(text_answer(id, "without you"));
    co_await exchange.reply({.status = 200, .content_type = server::kEventsType}, events);
  }
};

// Answers the call with the first progress notification that it has received.
class Curious : public Asking {
  Task<> call(net::Exchange& exchange, std::string id) override {
    Bell& bell = bell_.emplace(exchange.executor());
    co_await exchange.begin_stream({.status = 200, .content_type = server::kEventsType});
    co_await exchange.write(server::sse_frame(
        R"({"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"_meta":{"progressToken":"own"}}})"));
    while (heard_.empty())
      co_await bell.wait();
    co_await exchange.write(server::sse_frame(text_answer(id, heard_)));
    co_await exchange.end_stream();
  }
  void notified(const boost::json::object& message) override {
    if (message.at("method") != "notifications/progress") return;
    heard_ = boost::json::serialize(message.at("params"));
    if (bell_) bell_->ring();
  }

  std::optional<Bell> bell_;
  std::string heard_;
};

// BRG-04: the client may report progress on a question with a token of the gateway; the upstream receives it with its
// own token.
TEST(ClientAsks, PassProgressOfTheClientToWhoeverAsked) {
  Curious upstream;
  auto settings = upstream_at("c", upstream.port());
  settings.prefix = "";
  TestGateway gateway({settings});
  gateway.discover();
  LegacyClient client(gateway.port(), "2025-11-25", kEverything);
  client.client.send_request("POST", client.fields(), rpc("7", "tools/call", R"("name":"ask","arguments":{})"));
  client.client.read_answer();
  std::string said;
  while (const auto event = client.client.read_event()) {
    if (event->data.empty()) continue;
    const auto message = event->json();
    if (!message.as_object().contains("method")) {
      said = text_of(message);
      break;
    }
    const auto& token = message.at("params").at("_meta").at("progressToken");
    EXPECT_EQ(token, message.at("id"));
    const auto taken = RawClient(gateway.port())
                           .request("POST", client.fields(),
                                    fmt::format(R"({{"jsonrpc":"2.0","method":"notifications/progress","params":)"
                                                R"({{"progressToken":{},"progress":0.5,"message":"half"}}}})",
                                                boost::json::serialize(token)));
    EXPECT_EQ(taken.status, 202);
  }
  EXPECT_EQ(said, R"({"progressToken":"own","progress":5E-1,"message":"half"})");
}

// BRG-04, PRO-06: a question ends with the call that it was asked in, and a late answer has no effect.
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
