#include <atomic>

#include <gmock/gmock.h>

#include "gateway/testing/bridge_fixture.hpp"
#include "gateway/testing/scripted_upstream.hpp"
#include "gateway/testing/test_gateway.hpp"
#include "net/testing/closed_port.hpp"

namespace proteus::gateway {
namespace {

using providers::UpstreamState;
using test::one_tool;
using test::Reaction;
using test::ScriptedUpstream;
using test::small_lists;
using test::TestGateway;
using test::Upstream;
using test::upstream_at;
using test::wait_until;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

providers::UpstreamSettings polled(std::string name, std::uint16_t port) {
  auto settings = upstream_at(std::move(name), port);
  settings.event_driven_refresh = false;
  settings.auto_refresh = true;
  settings.refresh_interval = 10ms;
  settings.timeout = 300ms;
  return settings;
}

// An upstream that misbehaves in one way unless it is `well`.
struct Patient {
  explicit Patient(Reaction ill) : reaction(std::move(ill)) {}

  const Reaction reaction;
  std::atomic<bool> well = true;
  ScriptedUpstream upstream{[this](const boost::json::object& message) -> Reaction {
    if (!well) return reaction;
    return *small_lists(message, "cured");
  }};
};

// REF-12
TEST(Resilience, NeitherErrorsNorHangsNorGarbageEndAPollerOrDelayAnother) {
  std::vector<std::unique_ptr<Patient>> patients;
  for (const auto& reaction :
       {Reaction::hang(), Reaction::drop(), Reaction::body("<html>"), Reaction::body(std::string(1000, '\0')),
        Reaction::body(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"boom"}})"),
        Reaction(R"({"resultType":"complete","tools":7})"), Reaction(R"("a string")")}) {
    patients.push_back(std::make_unique<Patient>(reaction));
    patients.back()->well = false;
  }
  Upstream good({"one"});
  std::vector<providers::UpstreamSettings> settings;
  for (std::size_t i = 0; i < patients.size(); ++i)
    settings.push_back(polled("p" + std::to_string(i), patients[i]->upstream.port()));
  settings.push_back(polled("good", good.port));
  // Waiting for this one would take longer than the test has patience.
  ScriptedUpstream stuck([](const boost::json::object&) { return Reaction::hang(); });
  settings.push_back(polled("stuck", stuck.port()));
  settings.back().timeout = settings.back().connect_timeout = 2 * test::kPatience;
  TestGateway gateway(settings);

  wait_until([&] { return gateway.tools().size() == 1; });
  for (int i = 0; i < 10; ++i) {
    good.add("more" + std::to_string(i));
    wait_until([&] { return gateway.tools().size() == 2U + static_cast<std::size_t>(i); });
  }
  for (std::size_t i = 0; i < patients.size(); ++i)
    wait_until([&] { return gateway.status("p" + std::to_string(i)).state == UpstreamState::failed; });

  for (auto& patient : patients)
    patient->well = true;
  for (std::size_t i = 0; i < patients.size(); ++i)
    wait_until([&] { return gateway.status("p" + std::to_string(i)).state == UpstreamState::connected; });
  EXPECT_EQ(gateway.tools().size(), 11 + patients.size());
}

// REF-12
TEST(Resilience, AnExceptionOfOursEndsNoPollerEither) {
  Upstream a({"one"});
  std::atomic<int> refreshes = 0;
  TestGateway gateway({});
  gateway.gateway.set_on_refreshed([&](const providers::RefreshResult&, const catalog::Publication*) {
    if (++refreshes < 3) throw std::runtime_error("this reader has a fault");
  });
  gateway.set({polled("a", a.port)}).value();
  wait_until([&] { return refreshes > 4; });
  a.add("two");
  wait_until([&] { return gateway.tools().size() == 2; });
}

class Transient : public ::testing::Test {
 protected:
  // Drops the connection at the first `drops` requests that are not for lists.
  Reaction react(const boost::json::object& message) {
    if (auto list = small_lists(message)) return *list;
    if (drops.fetch_sub(1) > 0) return Reaction::drop();
    const auto& method = message.at("method").as_string();
    if (method == "prompts/get") return std::string(R"({"resultType":"complete","messages":[]})");
    if (method == "resources/read") {
      return std::string(R"({"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[]})");
    }
    return std::string(R"({"resultType":"complete","content":[]})");
  }

  std::atomic<int> drops = 0;
  ScriptedUpstream upstream{[this](const boost::json::object& message) { return react(message); }};
  TestGateway gateway{{upstream_at("up", upstream.port())}};
};

// REF-19
TEST_F(Transient, AToolsCallIsNeverSentTwice) {
  gateway.discover();
  drops = 1;
  const auto answer = gateway.call("up_tool");
  EXPECT_THAT(std::string(answer.at("error").at("message").as_string()), HasSubstr("upstream up"));
  EXPECT_EQ(upstream.received("tools/call").size(), 1U);
  EXPECT_TRUE(gateway.call("up_tool").as_object().contains("result"));
}

// REF-19, PRO-10
TEST(Resilience, WhatTheUserAnsweredIsSentAgainToo) {
  std::atomic<int> drops = 0;
  ScriptedUpstream upstream([&](const boost::json::object& message) -> Reaction {
    if (auto list = small_lists(message)) return *list;
    if (drops.fetch_sub(1) > 0) return Reaction::drop();
    if (message.at("params").as_object().contains("inputResponses")) {
      return std::string(R"({"resultType":"complete","messages":[]})");
    }
    return std::string(
        R"({"resultType":"input_required","requestState":"s","inputRequests":{"n":{"method":"elicitation/create",)"
        R"("params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}}})");
  });
  TestGateway gateway({upstream_at("up", upstream.port())});
  gateway.discover();
  test::ModernClient client(gateway);
  const auto get = [&](std::string_view more) {
    return client.send("prompts/get", "up_prompt", fmt::format(R"("name":"up_prompt"{})", more)).json();
  };
  const auto asked = get("");
  ASSERT_TRUE(test::asks(asked)) << asked;
  drops = 1;
  const auto done = get(client.with_answers(asked, R"({"n":{"action":"accept","content":{}}})"));
  ASSERT_TRUE(done.as_object().contains("result")) << done;
  EXPECT_EQ(done.at("result").at("resultType").as_string(), "complete");
  EXPECT_EQ(upstream.received("prompts/get").size(), 3U);
}

// REF-19
TEST_F(Transient, ReadsAndPromptsAreTriedAgain) {
  gateway.discover();
  drops = 2;
  EXPECT_TRUE(gateway.ask("resources/read", R"("uri":"test://r")", "test://r").as_object().contains("result"));
  EXPECT_EQ(upstream.received("resources/read").size(), 3U);
  drops = 1;
  EXPECT_TRUE(gateway.ask("prompts/get", R"("name":"up_prompt")", "up_prompt").as_object().contains("result"));
  EXPECT_EQ(upstream.received("prompts/get").size(), 2U);
  drops = 100;
  EXPECT_TRUE(gateway.ask("prompts/get", R"("name":"up_prompt")", "up_prompt").as_object().contains("error"));
  EXPECT_EQ(upstream.received("prompts/get").size(), 5U) << "not for ever";
  EXPECT_EQ(gateway.upstream("up")->breaker().state(), client::CircuitBreaker::State::closed);
}

// REF-19
TEST(Resilience, LiveListsAreTriedAgain) {
  std::atomic<int> drops = 0;
  ScriptedUpstream upstream([&](const boost::json::object&) -> Reaction {
    return drops.fetch_sub(1) > 0 ? Reaction::drop() : Reaction(one_tool("tool"));
  });
  auto settings = upstream_at("up", upstream.port());
  settings.refresh_strategy = providers::RefreshStrategy::direct_proxy;
  TestGateway gateway({settings});
  gateway.discover();
  drops = 2;
  EXPECT_THAT(gateway.tools(), Contains("up_tool"));
  EXPECT_EQ(upstream.received("tools/list").size(), 3U);
}

class EraChange : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Eras, EraChange, ::testing::Values(false, true),
                         [](const auto& tested) { return tested.param ? "ToModern" : "ToLegacy"; });

// REF-26
TEST_P(EraChange, AnUpstreamThatComesBackAsTheOtherEraIsServedInIt) {
  const bool to_modern = GetParam();
  const net::test::ClosedPort reserved;
  const std::uint16_t port = reserved.number();
  auto before = std::make_unique<Upstream>(std::vector<std::string>{"echo"},
                                           server::ServerOptions{.legacy = to_modern, .modern = !to_modern}, port);
  TestGateway gateway({upstream_at("up", port)});
  gateway.discover();
  const auto version = gateway.status("up").version;
  ASSERT_TRUE(version);
  EXPECT_EQ(mcp::era_of(*version), to_modern ? mcp::Era::legacy : mcp::Era::modern);
  EXPECT_TRUE(gateway.call("up_echo", R"({"n":1})").as_object().contains("result"));
  before.reset();

  server::Server after({.name = "upstream", .version = "2"}, {.legacy = !to_modern, .modern = to_modern});
  after
      .add_tool({.name = "echo"},
                [](server::Context& context) -> server::Outcome<server::ToolResult> {
                  return server::ToolResult::json(context.arguments());
                })
      .value();
  ASSERT_TRUE(after.listen({.port = port}));
  wait_until([&] {
    const auto answer = gateway.call("up_echo", R"({"n":2})");
    return answer.as_object().contains("result") && answer.at("result").at("structuredContent").at("n") == 2;
  });
  gateway.refresh("up");
  wait_until([&] {
    const auto now = gateway.status("up").version;
    return now && mcp::era_of(*now) == (to_modern ? mcp::Era::modern : mcp::Era::legacy);
  });
}

// A modern server that is replaced by a legacy one, which keeps sessions.
struct RolledBack {
  static bool is_modern(const boost::json::object& message) {
    const auto* const params = message.if_contains("params");
    const auto* const meta = params != nullptr ? params->as_object().if_contains("_meta") : nullptr;
    return meta != nullptr && meta->as_object().contains("io.modelcontextprotocol/protocolVersion");
  }
  Reaction react(const boost::json::object& message) {
    if (is_legacy == is_modern(message)) return Reaction::refuse(400);
    const auto& method = message.at("method").as_string();
    if (method == "server/discover") {
      return std::string(R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})");
    }
    if (method == "initialize") {
      Reaction begun(std::string(
          R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}})"));
      begun.lines = fmt::format("Mcp-Session-Id: session-{}\r\n", ++sessions);
      return begun;
    }
    if (auto list = small_lists(message)) return *list;
    return std::string(R"({"resultType":"complete","content":[]})");
  }

  std::atomic<bool> is_legacy = false;
  std::atomic<int> sessions = 0;
  ScriptedUpstream upstream{[this](const boost::json::object& message) { return react(message); },
                            ScriptedUpstream::Discover::scripted};
};

// REF-26, BRG-11: the requests of all callers used one connection, and must not go on in one session.
TEST(RollbackToLegacy, KeepsCallersApartFromTheFirstCallOn) {
  RolledBack server;
  auto settings = upstream_at("up", server.upstream.port());
  settings.health_interval = 1h;
  TestGateway gateway(
      {settings},
      {.principals = {{.name = "ada", .token = Secret("a")}, {.name = "bo", .token = Secret("b")}}, .workers = 1});
  gateway.discover();
  ASSERT_TRUE(gateway.call("up_tool", "{}", test::bearer("a")).as_object().contains("result"));
  const std::size_t lists = server.upstream.received("tools/list").size();
  server.is_legacy = true;
  for (const auto token : {"a", "b"})
    EXPECT_TRUE(gateway.call("up_tool", "{}", test::bearer(token)).as_object().contains("result")) << token;
  const auto sessions = server.upstream.headers("Mcp-Session-Id", "tools/call");
  ASSERT_EQ(sessions.size(), 2U);
  EXPECT_NE(sessions.front(), sessions.back());
  EXPECT_EQ(server.upstream.received("tools/call").size(), 4U) << "one was refused, because it was modern";
  wait_until([&] { return server.upstream.received("tools/list").size() > lists; });
  EXPECT_EQ(mcp::era_of(gateway.status("up").version.value()), mcp::Era::legacy);
}

}  // namespace
}  // namespace proteus::gateway
