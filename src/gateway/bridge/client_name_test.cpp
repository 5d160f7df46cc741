#include <gtest/gtest.h>

#include "gateway/testing/scripted_upstream.hpp"
#include "gateway/testing/test_gateway.hpp"

// A legacy upstream that answers with 2024-11-05, and the client names that it receives.
namespace proteus::gateway {
namespace {

using server::LegacyClient;
using server::rpc;
using test::Reaction;
using test::ScriptedUpstream;
using test::TestGateway;
using test::upstream_at;

Reaction answer_as_of_2024(const boost::json::object& message) {
  const std::string_view method = message.at("method").as_string();
  if (method == "initialize") {
    return Reaction(
        R"({"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}})");
  }
  if (method == "tools/list") return Reaction(R"({"tools":[{"name":"t","inputSchema":{"type":"object"}}]})");
  if (method == "tools/call") return Reaction(R"({"content":[{"type":"text","text":"ran"}]})");
  return Reaction::error(R"({"code":-32601,"message":"unknown"})");
}

class ClientNames : public ::testing::Test {
 protected:
  ClientNames() : gateway({upstream_at("up", upstream.port())}) { gateway.discover(); }

  // The client names of all sessions that were begun at the upstream, in order.
  std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const auto& hello : upstream.received("initialize"))
      names.emplace_back(hello.at("params").at("clientInfo").at("name").as_string());
    return names;
  }

  ScriptedUpstream upstream{answer_as_of_2024, ScriptedUpstream::Discover::scripted};
  TestGateway gateway;
};

// PRO-22, in the other direction: an upstream may answer with 2024-11-05.
TEST_F(ClientNames, AnUpstreamOf2024Works) {
  EXPECT_EQ(gateway.status("up").version, mcp::Version::v2024_11_05);
  EXPECT_EQ(server::text_of(gateway.call("up_t")), "ran");
}

// PRX-04: the session of a single client has that client's name; shared sessions have the gateway's.
TEST_F(ClientNames, ALegacyClientIsKnownByItsOwnName) {
  LegacyClient client(gateway.port());
  EXPECT_EQ(server::text_of(client.call("1", "up_t").json()), "ran");
  EXPECT_EQ(names(), (std::vector<std::string>{"gateway", "test"}));
  gateway.call("up_t", "{}", {}, R"(,"io.modelcontextprotocol/clientInfo":{"name":"modern","version":"1"})");
  EXPECT_EQ(names(), (std::vector<std::string>{"gateway", "test", "gateway"}));
}

// An upstream that checks the client's name would refuse a session without one.
TEST_F(ClientNames, AClientWithoutANameIsTheGateway) {
  server::RawClient client(gateway.port());
  const auto hello = client.request(
      "POST", "",
      rpc("0", "initialize", R"("protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":7})"));
  client.request("POST", fmt::format("Mcp-Session-Id: {}\r\n", hello.field("mcp-session-id")),
                 rpc("1", "tools/call", R"("name":"up_t")"));
  EXPECT_EQ(names(), (std::vector<std::string>{"gateway", "gateway"}));
}

}  // namespace
}  // namespace proteus::gateway
