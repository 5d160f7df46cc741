// Upstreams that speak both eras.
#include <map>
#include <mutex>

#include <gmock/gmock.h>

#include "gateway/testing/bridge_fixture.hpp"
#include "net/testing/http_test_server.hpp"
#include "server/http/http_answer.hpp"

namespace proteus::gateway {
namespace {

using namespace test;
using server::LegacyClient;
using server::text_of;

enum class Legacy { with_sessions, without_sessions, refused };

// An upstream whose tool returns the era it was called in. The modern side has one more tool, the legacy side has
// subscriptions.
class DualUpstream {
 public:
  explicit DualUpstream(Legacy legacy)
      : legacy_(legacy), server_([this](net::Exchange& exchange) { return handle(exchange); }) {}

  std::uint16_t port() const { return server_.port(); }
  int count(const std::string& method) {
    const std::scoped_lock lock(mutex_);
    return counts_[method];
  }
  std::set<std::string> callers() {
    const std::scoped_lock lock(mutex_);
    return callers_;
  }

 private:
  Task<> handle(net::Exchange& exchange) {
    const std::string id(exchange.request().fields().find("Mcp-Session-Id").value_or(""));
    if (exchange.request().method() != "POST") {
      co_return co_await server::reply(exchange,
                                       server::HttpAnswer::empty(exchange.request().method() == "GET" ? 405 : 200));
    }
    const auto message = boost::json::parse(exchange.request().body()).as_object();
    const std::string method(message.at("method").as_string());
    if (!message.contains("id")) co_return co_await server::reply(exchange, server::HttpAnswer::empty(202));
    const auto* const params = message.if_contains("params");
    const bool modern = params != nullptr && params->as_object().contains("_meta") &&
                        params->at("_meta").as_object().contains("io.modelcontextprotocol/protocolVersion");
    std::string fields;
    std::string result;
    {
      const std::scoped_lock lock(mutex_);
      ++counts_[method];
      if (method == "tools/call" && !modern) callers_.insert(id);
      result = answer(method, modern, fields);
    }
    if (result.empty()) co_return co_await server::reply(exchange, server::HttpAnswer::empty(400));
    co_await server::reply(exchange,
                           server::HttpAnswer::json(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})",
                                                                boost::json::serialize(message.at("id")), result),
                                                    fields));
  }

  std::string answer(const std::string& method, bool modern, std::string& fields) {
    if (!modern && legacy_ == Legacy::refused) return {};
    if (method == "server/discover") {
      return modern
                 ? R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{}}})"
                 : "";
    }
    if (method == "initialize") {
      if (legacy_ == Legacy::with_sessions) fields = fmt::format("Mcp-Session-Id: session-{}\r\n", ++last_);
      return R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{"subscribe":true}},"serverInfo":{"name":"d","version":"1"}})";
    }
    const std::string complete = modern ? R"("resultType":"complete",)" : "";
    const auto tool = [](std::string_view name) {
      return fmt::format(R"({{"name":"{}","inputSchema":{{"type":"object"}}}})", name);
    };
    if (method == "tools/list")
      return fmt::format(R"({{{}"tools":[{}{}]}})", complete, tool("both"), modern ? "," + tool("new_only") : "");
    if (method == "resources/list")
      return fmt::format(R"({{{}"resources":[{{"uri":"test://a","name":"a"}}]}})", complete);
    if (method == "resources/templates/list") return fmt::format(R"({{{}"resourceTemplates":[]}})", complete);
    if (method == "tools/call")
      return fmt::format(R"({{{}"content":[{{"type":"text","text":"{}"}}]}})", complete, modern ? "modern" : "legacy");
    return modern ? R"({"resultType":"complete"})" : "{}";
  }

  const Legacy legacy_;
  std::mutex mutex_;
  int last_ = 0;
  std::map<std::string, int> counts_;
  std::set<std::string> callers_;
  net::TestServer server_;
};

struct Behind {
  explicit Behind(DualUpstream& upstream, bool speaks_both = true) : gateway({settings(upstream)}) {
    gateway.discover();
    if (speaks_both) wait_until([&] { return gateway.upstream("dual")->legacy_side() != nullptr; });
  }
  static providers::UpstreamSettings settings(DualUpstream& upstream) {
    auto settings = upstream_at("dual", upstream.port());
    settings.prefix = "";
    return settings;
  }
  TestGateway gateway;
};

// BRG-12
TEST(AnUpstreamOfBothEras, IsSpokenToInTheEraOfTheClient) {
  DualUpstream upstream(Legacy::with_sessions);
  Behind behind(upstream);
  LegacyClient one(behind.gateway.port());
  LegacyClient other(behind.gateway.port());
  EXPECT_EQ(text_of(one.call("1", "both").json()), "legacy");
  EXPECT_EQ(text_of(other.call("1", "both").json()), "legacy");
  EXPECT_EQ(text_of(one.call("2", "both").json()), "legacy");
  EXPECT_EQ(text_of(behind.gateway.call("both")), "modern");
  EXPECT_EQ(upstream.callers().size(), 2U) << "each has a session of its own";
}

// BRG-12: an entry that the upstream lists in one era only is requested in that era.
TEST(AnUpstreamOfBothEras, IsSpokenToInTheOtherOneForWhatOnlyThatHas) {
  DualUpstream upstream(Legacy::with_sessions);
  Behind behind(upstream);
  LegacyClient client(behind.gateway.port());
  EXPECT_EQ(text_of(client.call("1", "new_only").json()), "modern");
}

// BRG-12, BRG-10
TEST(AnUpstreamOfBothEras, OffersEachEraWhatItHasForIt) {
  DualUpstream upstream(Legacy::with_sessions);
  Behind behind(upstream);
  LegacyClient client(behind.gateway.port());
  EXPECT_TRUE(client.hello.at("result").at("capabilities").at("resources").as_object().contains("subscribe"))
      << client.hello;
  const auto subscribed = client.post(server::rpc("1", "resources/subscribe", R"("uri":"test://a")")).json();
  EXPECT_TRUE(subscribed.as_object().contains("result")) << subscribed;
  EXPECT_EQ(upstream.count("resources/subscribe"), 1);
  const auto discovered = behind.gateway.ask("server/discover").at("result").at("capabilities");
  EXPECT_FALSE(discovered.at("resources").as_object().contains("subscribe")) << discovered;
}

class WithoutALegacySide : public ::testing::TestWithParam<Legacy> {};

// BRG-12: no call pays for the check of the legacy side.
TEST_P(WithoutALegacySide, IsSpokenToInTheModernEra) {
  DualUpstream upstream(GetParam());
  Behind behind(upstream, false);
  wait_until([&] { return upstream.count("initialize") == 1; });
  LegacyClient client(behind.gateway.port());
  for (int i = 1; i < 4; ++i)
    EXPECT_EQ(text_of(client.call(std::to_string(i), "both").json()), "modern");
  EXPECT_EQ(upstream.count("initialize"), 1);
}

INSTANTIATE_TEST_SUITE_P(Servers, WithoutALegacySide, ::testing::Values(Legacy::without_sessions, Legacy::refused),
                         [](const auto& legacy) {
                           return legacy.param == Legacy::refused ? "Refusing" : "Sessionless";
                         });

}  // namespace
}  // namespace proteus::gateway
