#pragma once

// For tests: a whole gateway with its admin API on a loopback port, and upstreams written with the server library.

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <proteus/server.hpp>

#include "admin/http/ops.hpp"
#include "admin/http/page.hpp"
#include "admin/http/router.hpp"
#include "admin/routes/audit_routes.hpp"
#include "admin/routes/change_routes.hpp"
#include "admin/routes/connection_routes.hpp"
#include "admin/routes/context_routes.hpp"
#include "admin/routes/figure_routes.hpp"
#include "admin/routes/graph_tools.hpp"
#include "admin/routes/open_session_routes.hpp"
#include "admin/routes/preview_routes.hpp"
#include "admin/routes/proposal_routes.hpp"
#include "admin/routes/session_routes.hpp"
#include "admin/routes/token_routes.hpp"
#include "admin/routes/try_routes.hpp"
#include "admin/routes/upstream_routes.hpp"
#include "admin/routes/view_routes.hpp"
#include "gateway/observe/metrics.hpp"
#include "gateway/testing/test_gateway.hpp"
#include "net/testing/http_test_server.hpp"
#include "server/testing/test_server.hpp"
#include "store/memory_store.hpp"

namespace proteus::admin::test {

using boost::json::object;
using boost::json::value;
using gateway::test::wait_until;

inline server::ToolHandler says(std::string text) {
  return [text](server::Context&) { return server::ToolResult::text(text); };
}

// An upstream with one tool, `ping`. If `token` is given, requests need it.
class TestUpstream {
 public:
  explicit TestUpstream(std::string token = {}) : server({.name = "test", .version = "1"}, {.tools = true}) {
    if (!server.add_tool({.name = "ping"}, says("pong"))) throw std::runtime_error("no tool");
    server::HttpOptions options;
    options.authenticate = [this, token](std::string_view authorization) -> Result<std::string> {
      ++requests;
      if (!token.empty() && authorization != "Bearer " + token) return std::unexpected(errors::unauthenticated("who?"));
      return std::string();
    };
    port = server.listen(options).value();
  }
  ~TestUpstream() { server.stop(); }

  std::string url() const { return fmt::format("http://127.0.0.1:{}/mcp", port); }

  server::Server server;
  std::atomic<int> requests = 0;
  std::uint16_t port = 0;
};

struct Reply {
  int status = 0;
  std::string head;
  std::string body;

  value json() const { return boost::json::parse(body); }
};

inline constexpr std::string_view kSecret = "the admin secret";
inline constexpr std::string_view kOpsSecret = "of the operators";
inline constexpr std::string_view kViewerSecret = "of those who look";

// A page that needs no build with npm.
inline constexpr std::array<PageFile, 2> kPageFiles{{{"/ui/assets/main-1.js", "text/javascript", "\"1\"", "script"},
                                                     {"/ui", "text/html; charset=utf-8", "\"2\"", "document"}}};

inline gateway::GatewayOptions gateway_options(const gateway::Egress& egress) {
  gateway::GatewayOptions options;
  options.service.server_info = R"({"name":"proteus","version":"0"})";
  options.debounce = options.upstreams.debounce = std::chrono::milliseconds(1);
  options.http.address_filter = egress.filter();
  return options;
}

// The system clock, which can be moved ahead, and its wall time back. Thread-safe.
class SkippingClock final : public Clock {
 public:
  Monotonic now() const override { return std::chrono::steady_clock::now() + std::chrono::milliseconds(ahead_); }
  Wall wall() const override { return std::chrono::system_clock::now() + std::chrono::milliseconds(ahead_ - behind_); }
  void skip(std::chrono::milliseconds by) { ahead_ += by.count(); }
  void set_back(std::chrono::milliseconds by) { behind_ += by.count(); }

 private:
  std::atomic<std::int64_t> ahead_ = 0;
  std::atomic<std::int64_t> behind_ = 0;
};

inline gateway::ToolSessionOptions session_options() {
  gateway::ToolSessionOptions options;
  options.debounce = std::chrono::milliseconds(1);
  options.calls.timeout = std::chrono::seconds(30);
  return options;
}

// The settings of upstreams in a configuration file.
struct FixtureFile {
  std::vector<providers::UpstreamEntry> upstreams = {};
  providers::UpstreamSettings defaults = {};
  gateway::RegistrationSettings registration = {};
};

class AdminFixture {
 public:
  using File = FixtureFile;

  // The store must outlive the fixture.
  explicit AdminFixture(store::Store& kept, File file = {}, net::EgressSettings allowed = {.allow_loopback = true},
                        Environment environment = fixed_environment({}))
      : store(kept),
        workers(2),
        egress(allowed),
        gateway(workers, clock, environment, store, SealingKey::random(), gateway_options(egress)),
        changes(workers.at(0), store, gateway.background_threads()),
        metrics(gateway),
        registry({workers.at(0), gateway, store, clock, environment, egress}),
        sessions({workers, gateway, store, clock, egress}, session_options()),
        tokens({workers.at(0), gateway, store, clock}),
        sign_ins({gateway, gateway.vault(), store, clock,
                  [this](std::string_view secret) { return router.name_of_key(secret); }},
                 SealingKey::random()),
        router(routes(),
               AdminKeys({{"admin", Secret(std::string(kSecret))},
                          {"ops", Secret(std::string(kOpsSecret))},
                          {"viewer", Secret(std::string(kViewerSecret)), Role::viewer}}),
               gateway.refusals()),
        ops({readiness, [this] { return metrics.render(); },
             [this](const net::Request& request) { return router.knows(request); }}),
        server(workers, {.refusals = &gateway.refusals()},
               [this](net::Exchange& exchange) { return route(exchange); }) {
    gateway.set_on_refreshed([this](const providers::RefreshResult& result, const catalog::Publication*) {
      metrics.refreshed(result);
      changes.refreshed(result);
    });
    gateway.set_on_changed(
        [this](const catalog::Publication& publication) { changes.changed(publication, clock.wall()); });
    gateway.set_access({std::make_shared<const gateway::Principals>(std::vector<gateway::PrincipalSettings>{},
                                                                    gateway::Anonymous::served),
                        {}});
    router.set_page_sessions(page_sessions);
    metrics.set_tool_sessions([this] { return sessions.size(); });
    workers.run();
    loaded = load(std::move(file));
    if (auto known = run(sessions.load()); !known) loaded = known;
    if (auto known = run(tokens.load()); !known) loaded = known;
    if (auto listening = server.listen(); !listening) throw std::runtime_error(listening.error().message());
  }
  ~AdminFixture() {
    // A call that waits for a person ends only with its session.
    gateway.end_streams();
    server.stop();
    gateway.stop();
    boost::asio::co_spawn(workers.at(0), sessions.stop(), boost::asio::use_future).get();
    boost::asio::co_spawn(workers.at(0), tokens.stop(), boost::asio::use_future).get();
    boost::asio::co_spawn(workers.at(0), changes.stop(), boost::asio::use_future).get();
    workers.stop();
    workers.join();
    gateway.background_threads().stop();
  }
  AdminFixture(const AdminFixture&) = delete;
  AdminFixture& operator=(const AdminFixture&) = delete;

  Result<> load(File file) {
    return run(registry.load(std::move(file.upstreams), std::move(file.defaults), std::move(file.registration)));
  }
  template <class T>
  T run(Task<T> task) {
    return boost::asio::co_spawn(workers.at(1), std::move(task), boost::asio::use_future).get();
  }

  // `fields` are complete lines.
  Reply send(std::string_view method, std::string_view path, std::string_view body, std::string_view fields) {
    net::RawClient client(server.local_port());
    client.send(head(method, path, fmt::format("{}Content-Length: {}\r\n", fields, body.size())) + std::string(body));
    const net::Answer answer = client.receive(method == "HEAD");
    return {answer.status, answer.head, answer.body};
  }
  Reply ask(std::string_view method, std::string_view path, std::string_view body = {}) {
    return send(method, path, body, fmt::format("X-Admin-Secret: {}\r\n", kSecret));
  }
  Reply ask(std::string_view method, std::string_view path, const object& body) {
    return ask(method, path, std::string_view(boost::json::serialize(body)));
  }
  // Opens a stream of events.
  std::unique_ptr<net::RawClient> open(std::string_view path, std::string_view fields = {}) {
    auto client = std::make_unique<net::RawClient>(server.local_port());
    client->send(
        head("GET", path, fmt::format("X-Admin-Secret: {}\r\nAccept: text/event-stream\r\n{}", kSecret, fields)));
    if (client->receive(true).status != 200) throw std::runtime_error("no stream");
    return client;
  }
  std::string head(std::string_view method, std::string_view path, std::string_view fields) const {
    return fmt::format("{} {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{}\r\n", method, path, server.local_port(), fields);
  }

  // Returns the names of the tools that an MCP client sees.
  std::vector<std::string> tools() {
    server::RawClient client(server.local_port());
    const auto answer = client.request("POST", server::modern_fields("tools/list"),
                                       server::rpc("1", "tools/list", server::modern_meta()));
    std::vector<std::string> names;
    for (const auto& tool : answer.json().at("result").at("tools").as_array())
      names.emplace_back(tool.at("name").as_string());
    return names;
  }
  server::RawClient::Answer call(std::string_view name) {
    server::RawClient client(server.local_port());
    return server::modern_call(client, name);
  }
  value refresh(std::string_view name) { return ask("POST", fmt::format("/admin/upstreams/{}/refresh", name)).json(); }
  value get(std::string_view name) { return ask("GET", fmt::format("/admin/upstreams/{}", name)).json(); }

  SkippingClock clock;
  store::Store& store;
  net::Workers workers;
  gateway::Egress egress;
  gateway::Gateway gateway;
  gateway::ChangeLog changes;
  gateway::Metrics metrics;
  gateway::UpstreamRegistry registry;
  gateway::PinDecisions pins{gateway, store};
  gateway::ToolSessions sessions;
  gateway::TryTokens try_tokens{gateway, store, SealingKey::derive(kSecret, "tokens to try with")};
  gateway::Figures figures{metrics};
  gateway::TokenRegistry tokens;
  gateway::SignInDesk sign_ins;
  Readiness readiness;
  Router router;
  PageSessions page_sessions = PageSessions::derive("a pepper", "", clock);
  Page page{kPageFiles, page_sessions, router.auth(), gateway.refusals(), clock, "0"};
  Ops ops;
  MetricsAccess metrics_access = MetricsAccess::open;
  GraphTools graph_tools{gateway, {}};
  net::HttpServer server;
  Result<> loaded;

 private:
  Routes routes() {
    Routes all = upstream_routes(gateway, registry, store);
    for (auto& more :
         {session_routes(gateway, sessions), token_routes(gateway, tokens), change_routes(changes), audit_routes(store),
          context_routes(gateway), proposal_routes(pins),
          connection_routes(gateway.vault(), sign_ins, gateway.background_threads()), view_routes(gateway, registry),
          try_routes(try_tokens), open_session_routes(gateway, sessions, store), figure_routes(figures),
          preview_routes(gateway, registry, tokens, pins)})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Task<> route(net::Exchange& exchange) {
    const std::string_view path = exchange.request().path();
    if (Router::owns(path)) return router.handle(exchange);
    if (Page::owns(path)) return page.handle(exchange);
    if (GraphTools::owns(path)) return graph_tools.handle(exchange);
    if (gateway::ConnectSite::owns(path)) return sign_ins.site().handle(exchange);
    if (Ops::owns(path)) return ops.handle(exchange, metrics_access);
    return gateway.handle(exchange);
  }
};

inline std::string next_event(net::RawClient& stream) {
  for (;;) {
    auto chunk = stream.receive_chunk();
    if (!chunk) return {};
    if (!chunk->starts_with(":")) return *chunk;
  }
}

// Parses an upstream of the configuration file.
inline providers::UpstreamEntry entry(object keys, const providers::UpstreamSettings& base = {}) {
  auto parsed = providers::parse_upstream(keys, base);
  if (!parsed) throw std::runtime_error(parsed.error().front().message);
  return *parsed;
}

}  // namespace proteus::admin::test
