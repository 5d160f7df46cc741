#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>
#include <proteus/server_async.hpp>

#include "admin/testing/admin_fixture.hpp"
#include "store/testing/full_store.hpp"

namespace proteus::admin::test {

// Waits until it is cancelled. Counts the calls that run and those that were cancelled.
inline boost::asio::awaitable<server::Outcome<server::ToolResult>> wait_until_cancelled(std::atomic<int>& running,
                                                                                        std::atomic<int>& cancelled) {
  ++running;
  try {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
    timer.expires_at(boost::asio::steady_timer::time_point::max());
    co_await timer.async_wait(boost::asio::use_awaitable);
  } catch (...) {
    ++cancelled;
    throw;
  }
  co_return server::ToolResult::text("unreachable");
}

// For tests: a gateway that only holders of tokens may use, with an upstream whose tool waits.
class Tokens : public ::testing::Test {
 protected:
  Tokens() {
    server::add_async_tool(upstream.server, {.name = "wait"}, [this](server::Context&) {
      return wait_until_cancelled(running, cancelled);
    }).value();
    fixture.ask("POST", "/admin/upstreams", object{{"name", "bank"}, {"url", upstream.url()}});
    fixture.refresh("bank");
    refuse_strangers();
  }

  void refuse_strangers(std::vector<gateway::PrincipalSettings> configured = {}) {
    fixture.gateway.set_access({std::make_shared<const gateway::Principals>(configured, gateway::Anonymous::refused),
                                catalog::Contexts::make({{{"work", {}}}, {}})});
  }
  Reply create(const object& body) { return fixture.ask("POST", "/admin/tokens", body); }
  std::string made(const object& body) { return secret_in(create(body)); }
  static std::string secret_in(const Reply& reply) {
    const value answer = reply.json();
    return std::string(answer.at("token").as_string());
  }
  Reply rotate(std::string_view name, std::string_view body = {}) {
    return fixture.ask("POST", fmt::format("/admin/tokens/{}/rotate", name), body);
  }
  Reply revoke(std::string_view name) { return fixture.ask("DELETE", fmt::format("/admin/tokens/{}", name)); }
  value shown(std::string_view name) { return fixture.ask("GET", fmt::format("/admin/tokens/{}", name)).json(); }
  void look_over() { fixture.run(fixture.tokens.look_over()); }

  int status_for(std::string_view token, std::string_view path = "/mcp") {
    server::RawClient client(fixture.server.local_port(), std::string(path));
    return client
        .request("POST", server::modern_fields("tools/list") + gateway::test::bearer(token),
                 server::rpc("1", "tools/list", server::modern_meta()))
        .status;
  }
  std::unique_ptr<server::RawClient> listen(std::string_view token) {
    auto client = std::make_unique<server::RawClient>(fixture.server.local_port());
    client->request("POST", server::modern_fields("subscriptions/listen") + gateway::test::bearer(token),
                    server::rpc("7", "subscriptions/listen",
                                R"("notifications":{"toolsListChanged":true},)" + server::modern_meta()));
    EXPECT_EQ(client->read_event()->json().at("method"), "notifications/subscriptions/acknowledged");
    return client;
  }
  static void expect_end(server::RawClient& stream) {
    EXPECT_EQ(stream.read_event()->json().at("method"), "notifications/cancelled");
    EXPECT_EQ(stream.read_event()->json().at("id"), 7);
    EXPECT_FALSE(stream.read_event());
  }
  // Starts a call, and waits until it runs.
  std::unique_ptr<server::RawClient> call(std::string_view token) {
    const int before = running;
    auto client = std::make_unique<server::RawClient>(fixture.server.local_port());
    client->send_request("POST", server::modern_fields("tools/call", "bank_wait") + gateway::test::bearer(token),
                         server::rpc("5", "tools/call", R"("name":"bank_wait",)" + server::modern_meta()));
    wait_until([&] { return running == before + 1; });
    return client;
  }
  std::vector<std::string> audited() {
    std::vector<std::string> out;
    for (const auto& entry : fixture.ask("GET", "/admin/audit").json().at("audit").as_array())
      out.emplace_back(entry.at("what").as_string());
    return out;
  }

  std::atomic<int> running = 0;
  std::atomic<int> cancelled = 0;
  TestUpstream upstream;
  store::test::FullStore store;
  AdminFixture fixture{store};
};

}  // namespace proteus::admin::test
