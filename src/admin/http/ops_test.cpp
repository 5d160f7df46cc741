#include "admin/http/ops.hpp"

#include <mutex>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/testing/admin_fixture.hpp"
#include "base/log/log.hpp"
#include "net/testing/raw_client.hpp"

namespace proteus::admin {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::Not;

class Operations : public ::testing::Test {
 protected:
  Reply get(std::string_view path) { return fixture.send("GET", path, "", ""); }
  // Returns the value of a line of the metrics; -1 if there is no such line.
  double metric(std::string_view line) {
    const std::string text = get("/metrics").body;
    const auto at = text.find("\n" + std::string(line) + " ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + 1 + line.size()));
  }

  TestUpstream upstream;
  store::MemoryStore memory;
  AdminFixture fixture{memory};
};

// OPS-01
TEST_F(Operations, TellWhetherItLivesAndServes) {
  EXPECT_EQ(get("/healthz").status, 200);
  EXPECT_EQ(get("/readyz").status, 503);
  EXPECT_EQ(get("/readyz").json().at("status"), "starting");
  fixture.readiness.set(Readiness::State::ready);
  EXPECT_EQ(get("/readyz").status, 200);
  fixture.readiness.set(Readiness::State::draining);
  EXPECT_EQ(get("/readyz").status, 503);
  EXPECT_EQ(get("/healthz").status, 200);
  EXPECT_EQ(fixture.send("POST", "/healthz", "", "").status, 405);
  EXPECT_EQ(fixture.send("HEAD", "/readyz", "", "").status, 503);
  fixture.readiness.set(Readiness::State::ready);
  EXPECT_EQ(get("/readyz").json().at("status"), "draining") << "upstreams that are there only now change nothing";
}

TEST_F(Operations, MetricsAreClosedWhereTheListenerIsOpen) {
  EXPECT_EQ(get("/metrics").status, 200);
  fixture.metrics_access = MetricsAccess::with_secret;
  EXPECT_EQ(get("/metrics").status, 401);
  EXPECT_EQ(fixture.ask("GET", "/metrics").status, 200);
}

// OPS-06
TEST_F(Operations, MetricsCoverEverything) {
  fixture.ask("POST", "/admin/upstreams", {{"name", "bank"}, {"url", upstream.url()}});
  fixture.ask("POST", "/admin/upstreams",
              {{"name", "live"}, {"url", upstream.url()}, {"refresh_strategy", "direct_proxy"}});
  fixture.refresh("bank");
  fixture.tools();
  fixture.call("bank_ping");
  fixture.call("bank_unknown");
  server::LegacyClient legacy(fixture.server.local_port());
  legacy.call("1", "bank_ping");

  const std::string text = get("/metrics").body;
  for (const auto* name :
       {"proteus_requests_total", "proteus_request_seconds", "proteus_upstream_requests_total", "proteus_upstream_up",
        "proteus_upstream_refreshes_total", "proteus_upstream_refresh_seconds", "proteus_list_changed_total",
        "proteus_client_sessions", "proteus_tool_sessions", "proteus_streams", "proteus_catalog_entries",
        "direct_proxy_requests_total", "direct_proxy_latency_seconds", "direct_proxy_errors_total"})
    EXPECT_THAT(text, HasSubstr(fmt::format("# TYPE {} ", name)));
  EXPECT_EQ(metric(R"(proteus_requests_total{method="tools/call",era="modern",outcome="ok"})"), 1);
  EXPECT_EQ(metric(R"(proteus_requests_total{method="tools/call",era="modern",outcome="error"})"), 1);
  EXPECT_EQ(metric(R"(proteus_requests_total{method="tools/call",era="legacy",outcome="ok"})"), 1);
  EXPECT_EQ(metric(R"(proteus_requests_total{method="tools/list",era="modern",outcome="ok"})"), 1);
  EXPECT_EQ(metric("proteus_request_seconds_count"), 4);
  EXPECT_EQ(metric(R"(proteus_upstream_requests_total{upstream="bank",outcome="ok"})"), 2);
  EXPECT_EQ(metric(R"(proteus_upstream_up{upstream="bank"})"), 1);
  EXPECT_GE(metric(R"(proteus_upstream_refreshes_total{upstream="bank",outcome="ok"})"), 1);
  EXPECT_EQ(metric(R"(proteus_client_sessions)"), 1);
  EXPECT_EQ(metric(R"(proteus_streams)"), 0);
  EXPECT_EQ(metric(R"(proteus_catalog_entries{kind="tools"})"), 1);

  fixture.ask("DELETE", "/admin/upstreams/bank");
  EXPECT_THAT(get("/metrics").body, Not(HasSubstr("\"bank\"")));
}

TEST_F(Operations, MetricsCountOpenStreams) {
  server::LegacyClient legacy(fixture.server.local_port());
  server::RawClient stream(fixture.server.local_port());
  stream.send_request("GET", legacy.fields() + "Accept: text/event-stream\r\n");
  ASSERT_EQ(stream.read_answer().status, 200);
  server::RawClient listening(fixture.server.local_port());
  listening.send_request("POST", server::modern_fields("subscriptions/listen"),
                         server::rpc("7", "subscriptions/listen",
                                     R"("notifications":{"toolsListChanged":true},)" + server::modern_meta()));
  ASSERT_EQ(listening.read_answer().status, 200);
  wait_until([&] { return metric("proteus_streams") == 2; });
}

// OPS-10
TEST_F(Operations, RefusalsAreCountedByReasonAndLoggedWithoutSecrets) {
  static std::mutex mutex;
  static std::string lines;
  lines.clear();
  log::redirect([](std::string_view line) {
    const std::scoped_lock lock(mutex);
    lines.append(line).append("\n");
  });
  const auto refuse = [&](std::string_view head) {
    net::RawClient client(fixture.server.local_port());
    client.send(head);
    return client.receive().status;
  };
  EXPECT_EQ(refuse("POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer hush-token\r\n\r\n"), 401);
  EXPECT_EQ(refuse("POST /mcp HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 403);
  EXPECT_EQ(refuse("POST /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n\r\n"), 403);
  EXPECT_EQ(refuse("POST /mcp/nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n"), 404);
  EXPECT_EQ(refuse("GET /v1/graphs/nowhere/mcp/tools HTTP/1.1\r\nHost: localhost\r\n\r\n"), 404);
  EXPECT_EQ(refuse("GET /v1/graphs/nowhere/mcp/tools HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 403);
  EXPECT_EQ(refuse("GET /admin HTTP/1.1\r\nHost: localhost\r\nX-Admin-Secret: hush-secret\r\n\r\n"), 401);
  EXPECT_EQ(refuse("GET /admin HTTP/1.1\r\nHost: localhost\r\n\r\n"), 401);
  EXPECT_EQ(refuse("GET /admin?x=hush-query HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(refuse("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999999\r\n\r\n"), 413);
  fixture.metrics_access = MetricsAccess::with_secret;
  EXPECT_EQ(get("/metrics").status, 401);
  fixture.metrics_access = MetricsAccess::open;
  log::redirect(nullptr);

  EXPECT_EQ(metric(R"(proteus_refusals_total{reason="token"})"), 1);
  EXPECT_EQ(metric(R"(proteus_refusals_total{reason="host"})"), 2);
  EXPECT_EQ(metric(R"(proteus_refusals_total{reason="origin"})"), 1);
  EXPECT_EQ(metric(R"(proteus_refusals_total{reason="context"})"), 2);
  EXPECT_EQ(metric(R"(proteus_refusals_total{reason="admin_secret"})"), 3);
  EXPECT_EQ(metric(R"(proteus_refusals_total{reason="malformed"})"), 1);
  EXPECT_EQ(metric(R"(proteus_refusals_total{reason="limit"})"), 1);
  EXPECT_THAT(lines, HasSubstr("info gateway: a request was refused reason=token"));
  EXPECT_THAT(lines, HasSubstr("info admin: a request was refused reason=admin_secret"));
  EXPECT_THAT(lines,
              HasSubstr("info server: a request was refused reason=origin why=https://evil.example peer=127.0.0.1"));
  EXPECT_THAT(lines, HasSubstr("info net: a request was refused reason=malformed"));
  EXPECT_THAT(lines, Not(HasSubstr("hush")));
}

// PRX-11
TEST_F(Operations, DirectProxyMetricsMoveForDirectUpstreamsOnly) {
  fixture.ask("POST", "/admin/upstreams", {{"name", "bank"}, {"url", upstream.url()}});
  fixture.refresh("bank");
  fixture.tools();
  fixture.call("bank_ping");
  EXPECT_THAT(get("/metrics").body, Not(HasSubstr("direct_proxy_requests_total{")));

  TestUpstream other;
  fixture.ask("POST", "/admin/upstreams",
              {{"name", "live"}, {"url", other.url()}, {"refresh_strategy", "direct_proxy"}, {"circuit_failures", 2}});
  fixture.refresh("live");
  fixture.tools();
  fixture.call("live_ping");
  fixture.call("live_unknown");
  fixture.call("bank_ping");
  EXPECT_EQ(metric(R"(direct_proxy_requests_total{upstream="live",method="tools/list"})"), 1);
  EXPECT_EQ(metric(R"(direct_proxy_requests_total{upstream="live",method="tools/call"})"), 2);
  EXPECT_EQ(metric(R"(direct_proxy_latency_seconds_count{upstream="live"})"), 3);
  EXPECT_EQ(metric(R"(direct_proxy_errors_total{upstream="live",type="upstream"})"), 1);
  EXPECT_EQ(metric(R"(direct_proxy_errors_total{upstream="live",type="connect"})"), 0);
  EXPECT_THAT(get("/metrics").body, Not(HasSubstr("direct_proxy_requests_total{upstream=\"bank\"")));

  other.server.stop();
  for (int i = 0; i < 3; ++i)
    fixture.call("live_ping");
  EXPECT_EQ(metric(R"(direct_proxy_errors_total{upstream="live",type="connect"})"), 2);
  EXPECT_EQ(metric(R"(direct_proxy_errors_total{upstream="live",type="circuit"})"), 1);
}

TEST(UpstreamOutcomes, AreToldByTheError) {
  store::MemoryStore memory;
  TestUpstream upstream;
  AdminFixture fixture(memory);
  fixture.ask("POST", "/admin/upstreams", {{"name", "bank"}, {"url", upstream.url()}});
  const gateway::ServedUpstream served = *fixture.gateway.upstreams()->find("bank");
  const auto outcome = [&](const Error& error, bool cut_off = false) {
    return gateway::to_string(gateway::outcome_of({served, mcp::Method::tools_call, {}, &error, cut_off}));
  };
  EXPECT_EQ(outcome(errors::unreachable("x")), "connect");
  EXPECT_EQ(outcome(errors::interrupted("x")), "connect");
  EXPECT_EQ(outcome(errors::timeout("x")), "timeout");
  EXPECT_EQ(outcome(errors::forbidden("x")), "http");
  EXPECT_EQ(outcome({ErrorKind::remote, "HTTP 500"}), "http");
  EXPECT_EQ(outcome(Error(ErrorKind::remote, "no").with_rpc_code(-32602)), "upstream");
  EXPECT_EQ(outcome(errors::protocol("x")), "protocol");
  EXPECT_EQ(outcome(errors::unreachable("x"), true), "circuit");
  EXPECT_EQ(outcome(errors::cancelled("x")), "cancelled");
}

}  // namespace
}  // namespace proteus::admin
