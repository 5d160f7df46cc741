#include <atomic>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "net/testing/http_test_server.hpp"
#include "server/api/registered_service.hpp"
#include "server/core/call.hpp"
#include "server/http/http_endpoint.hpp"
#include "server/testing/old_client.hpp"

namespace proteus::server {
namespace {

class Endpoint : public ::testing::Test {
 protected:
  Endpoint() : server({.name = "test", .version = "1"}, {.tools = true}) {
    port = server.listen({.max_body = 100'000}).value();
  }

  RawClient::Answer post(std::string_view fields, std::string_view body) {
    RawClient client(port);
    return client.request("POST", fields, body);
  }

  Server server;
  std::uint16_t port = 0;
};

// PRO-11
TEST_F(Endpoint, RefusesForeignOriginsAndHosts) {
  const std::string body = rpc("1", "tools/list", modern_meta());
  const std::string fields = modern_fields("tools/list");
  EXPECT_EQ(post(fields + "Origin: http://evil.example\r\n", body).status, 403);
  EXPECT_EQ(post(fields + "Origin: null\r\n", body).status, 403);
  EXPECT_EQ(post(fields + "Host: evil.example\r\n", body).status, 403);
  EXPECT_EQ(post(fields + "Origin: http://localhost:5173\r\n", body).status, 200);
  EXPECT_EQ(post(fields + "Host: localhost:1\r\n", body).status, 200);
}

// SEC-03
TEST(EndpointWithTokens, RefusesBeforeItReadsABody) {
  Server server({.name = "test", .version = "1"}, {.tools = true});
  HttpOptions options;
  options.authenticate = [](std::string_view authorization) -> Result<std::string> {
    if (authorization == "Bearer good") return "agent";
    return std::unexpected(errors::unauthenticated("who?"));
  };
  const std::uint16_t port = server.listen(options).value();
  const std::string body = rpc("1", "tools/list", modern_meta()) + std::string(90'000, ' ');
  const auto head = [&](std::string_view fields) {
    return fmt::format(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{}{}Content-Length: {}\r\n\r\n",
        modern_fields("tools/list"), fields, body.size());
  };
  for (const auto& [fields, status] : {std::pair("Authorization: Bearer bad\r\n", 401),
                                       {"", 401},
                                       {"Authorization: Bearer good\r\nOrigin: http://evil.example\r\n", 403},
                                       {"Authorization: Bearer good\r\nAccept: text/html\r\n", 406},
                                       {"Authorization: Bearer good\r\nAuthorization: Bearer bad\r\n", 400}}) {
    RawClient client(port);
    client.send(head(fields));
    const auto refused = client.read_answer();
    EXPECT_EQ(refused.status, status) << fields;
    EXPECT_EQ(refused.field("connection"), "close");
  }
  RawClient client(port);
  for (int i = 0; i < 2; ++i) {
    client.send(head("Authorization: Bearer good\r\n"));
    client.send(body);
    EXPECT_EQ(client.read_answer().status, 200);
  }
}

// The body of any message may arrive after its head.
TEST_F(Endpoint, TakesABodyThatComesLater) {
  const auto late = [&](RawClient& client, std::string_view fields, const std::string& body) {
    client.send(
        fmt::format("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{}"
                    "Expect: 100-continue\r\nContent-Length: {}\r\n\r\n",
                    fields, body.size()));
    EXPECT_EQ(client.read_answer().status, 100) << "the handler has run, and wants the body";
    client.send(body);
    return client.read_answer();
  };
  RawClient modern(port);
  EXPECT_EQ(late(modern, modern_fields("tools/list"), rpc("1", "tools/list", modern_meta())).status, 200);
  const auto listening =
      late(modern, modern_fields("subscriptions/listen"),
           rpc("2", "subscriptions/listen", R"("notifications":{"toolsListChanged":true},)" + modern_meta()));
  EXPECT_EQ(listening.field("content-type"), "text/event-stream");
  LegacyClient legacy(port);
  RawClient other(port);
  EXPECT_EQ(late(other, legacy.fields(), rpc("1", "tools/list", "")).status, 200);
  EXPECT_EQ(late(other, legacy.fields(), R"({"jsonrpc":"2.0","method":"notifications/initialized"})").status, 202);
}

// SEC-03: two readers could use different values of a repeated field.
TEST_F(Endpoint, RefusesAnMcpFieldThatIsThereTwice) {
  LegacyClient legacy(port);
  LegacyClient other(port);
  const std::string body = rpc("1", "tools/list", "");
  EXPECT_EQ(post(legacy.fields(), body).status, 200);
  EXPECT_EQ(post(legacy.fields() + other.fields(), body).status, 400);
  EXPECT_EQ(
      post(legacy.fields() + "MCP-Protocol-Version: 2025-11-25\r\nMCP-Protocol-Version: 2025-06-18\r\n", body).status,
      400);
  EXPECT_EQ(
      post(modern_fields("tools/list") + "Mcp-Method: tools/call\r\n", rpc("1", "tools/list", modern_meta())).status,
      400);
}

// PRO-11
TEST(HostRules, NameWhoMayComeIn) {
  const HostRules open{.loopback = false, .allowed_origins = {"https://app.example"}, .allowed_hosts = {}};
  EXPECT_TRUE(open.allows_host("anything.example"));
  EXPECT_TRUE(open.allows_origin(std::nullopt));
  EXPECT_TRUE(open.allows_origin("https://APP.example"));
  EXPECT_FALSE(open.allows_origin("http://localhost"));
  const HostRules named{.loopback = false, .allowed_origins = {}, .allowed_hosts = {"mcp.example"}};
  EXPECT_TRUE(named.allows_host("MCP.example:8443"));
  EXPECT_FALSE(named.allows_host("other.example"));
  EXPECT_FALSE(named.allows_host("10.0.0.7:8000"));
  HostRules probed = named;
  probed.for_operators = true;
  EXPECT_TRUE(probed.allows_host("10.0.0.7:8000"));
  EXPECT_TRUE(probed.allows_host("[fd00::7]:8000"));
  EXPECT_FALSE(probed.allows_host("10.0.0.7.nip.io"));
  probed.loopback = true;
  EXPECT_FALSE(probed.allows_host("10.0.0.7"));
  EXPECT_TRUE(probed.allows_host(""));
  EXPECT_TRUE(is_loopback_name("[::1]:80"));
  EXPECT_TRUE(is_loopback_name("127.8.8.8"));
  EXPECT_FALSE(is_loopback_name("localhost.evil.example"));
  EXPECT_FALSE(is_loopback_name("127.0.0.1.evil.example"));
  for (const auto* odd : {"[::1].evil.example", "[::1", "localhost:80@evil.example", "localhost:x", "localhost:80/"}) {
    EXPECT_FALSE(is_loopback_name(odd)) << odd;
    EXPECT_FALSE(open.allows_host(odd)) << odd;
  }
}

// PRO-11: with DNS rebinding, the page of any site sends its own name as Origin and Host.
TEST(HostRules, TakeAPageForTheirOwnOnlyUnderANameThatCannotBeRebound) {
  HostRules rules{.loopback = false, .allowed_origins = {}, .allowed_hosts = {}, .own_pages = true};
  net::TestServer server([&rules](net::Exchange& exchange) -> Task<> {
    const auto checked = rules.check(exchange.request(), nullptr);
    co_await exchange.reply({.status = checked ? 200U : 403U}, "");
  });
  const auto status = [&server](std::string_view host) {
    RawClient client(server.port());
    return client.request("GET", fmt::format("Host: {}\r\nOrigin: http://{}\r\n", host, host)).status;
  };
  EXPECT_EQ(status("evil.example:8080"), 403);
  EXPECT_EQ(status("10.0.0.7:8080"), 200);
  EXPECT_EQ(status("[fd00::7]:8080"), 200);
  rules.allowed_hosts = {"mcp.example"};
  EXPECT_EQ(status("mcp.example:8080"), 200);
  EXPECT_EQ(status("evil.example:8080"), 403);
  rules = {.loopback = true, .allowed_origins = {}, .allowed_hosts = {}, .own_pages = true};
  EXPECT_EQ(status("localhost:8080"), 200);
}

// PRO-16
TEST_F(Endpoint, AnswersBadInputAsTheProtocolSaysAndKeepsTheConnection) {
  struct Case {
    std::string body;
    int status;
    std::int64_t code;
  };
  const std::string meta = modern_meta();
  RawClient client(port);
  for (const auto& [body, status, code] : std::vector<Case>{
           {"{", 400, -32700},
           {"nope", 400, -32700},
           {"\xff\xfe", 400, -32700},
           {R"({"jsonrpc":"2.0","id":1,"method":"tools/list")", 400, -32700},
           {R"({"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"})", 400, -32600},
           {R"({"jsonrpc":"2.0","id":null,"method":"tools/list"})", 400, -32600},
           {R"({"jsonrpc":"2.0","id":{},"method":"tools/list"})", 400, -32600},
           {R"({"jsonrpc":"2.0","id":1e400,"method":"tools/list"})", 400, -32600},
           {R"({"jsonrpc":"1.0","id":1,"method":"tools/list"})", 400, -32600},
           {"7", 400, -32600},
           {rpc("1", "tools/list", R"("_meta":[])"), 400, -32602},
           {rpc("1", "tools/list", R"("cursor":7,)" + meta), 400, -32602},
           {rpc("1", "tools/list", R"("x":)" + std::string(1000, '[') + std::string(1000, ']') + "," + meta), 413,
            -32600},
       }) {
    const auto answer = client.request("POST", modern_fields("tools/list"), body);
    EXPECT_EQ(code_of(answer.json()), code) << body.substr(0, 80) << "\n" << answer.body;
    if (code != -32600 || status != 413) EXPECT_EQ(answer.status, status) << body.substr(0, 80);
  }
  EXPECT_EQ(client.request("POST", modern_fields("tools/list"), rpc("1", "tools/list", meta)).status, 200);
}

// PRO-16
TEST_F(Endpoint, AnswersWrongMethodsTypesAndSizes) {
  RawClient client(port);
  const auto wrong = client.request("PUT", "", "{}");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.field("allow"), "GET, POST, DELETE, OPTIONS");
  EXPECT_EQ(wrong.json().at("error").at("message"), "This endpoint takes GET, POST, DELETE and OPTIONS");
  EXPECT_EQ(client.request("POST", "Content-Type: text/plain\r\n", "{}").status, 415);
  EXPECT_EQ(client.request("POST", "Accept: text/html\r\n", "{}").status, 406);
  EXPECT_EQ(client.request("POST", "Accept: */*\r\n", "{").status, 400);
  client.send("POST /other HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(client.read_answer().status, 404);
  RawClient large(port);
  large.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000\r\n\r\n");
  EXPECT_EQ(large.read_answer().status, 413);
}

// SEC-03: what a client declares about itself is kept with its session.
TEST(Hello, IsNotKeptAtAnyLength) {
  Server server({.name = "test", .version = "1"}, {.tools = true});
  const auto port = server.listen().value();
  const auto hello = [&](std::size_t name, std::size_t capability) {
    RawClient client(port);
    return client
        .request("POST", "",
                 rpc("1", "initialize",
                     fmt::format(R"("protocolVersion":"2025-11-25","capabilities":{{"x":"{}"}},)"
                                 R"("clientInfo":{{"name":"{}","version":"1"}})",
                                 std::string(capability, 'c'), std::string(name, 'n'))))
        .json();
  };
  EXPECT_TRUE(hello(16'000, 16'000).as_object().contains("result"));
  EXPECT_EQ(hello(20'000, 1).at("error").at("code"), -32602);
  EXPECT_EQ(hello(1, 20'000).at("error").at("code"), -32602);
}

// PRO-03
TEST(SingleEra, AModernServerSaysWhatItSpeaks) {
  Server server({.name = "test", .version = "1"}, {.legacy = false, .tools = true});
  RawClient client(server.listen().value());
  const auto wrong = client.request("GET", "");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.field("allow"), "POST, OPTIONS");
  EXPECT_EQ(wrong.json().at("error").at("message"), "This endpoint takes POST and OPTIONS");
  EXPECT_EQ(client.request("DELETE", "").status, 405);
  const auto refused = client.request(
      "POST", "",
      rpc("1", "initialize",
          R"("protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"})"));
  EXPECT_EQ(refused.status, 400);
  EXPECT_NE(refused.body.find("2026-07-28"), std::string::npos);
}

TEST(SingleEra, ALegacyServerIsRecognizedAsOne) {
  Server server({.name = "test", .version = "1"}, {.modern = false, .tools = true});
  RawClient client(server.listen().value());
  const auto refused = client.request("POST", modern_fields("tools/list"), rpc("1", "tools/list", modern_meta()));
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(code_of(refused.json()), -32600);
}

// SEC-05
TEST(Authentication, BindsSessionsAndStatesToTheirCaller) {
  Server server({.name = "test", .version = "1"});
  server
      .add_tool({.name = "who"},
                [](Context& context) -> Outcome<ToolResult> { return ToolResult::text(context.principal()); })
      .value();
  const auto port = server
                        .listen({.authenticate = [](std::string_view authorization) -> Result<std::string> {
                          if (!authorization.starts_with("Bearer "))
                            return std::unexpected(errors::unauthenticated("a token is needed"));
                          return std::string(authorization.substr(7));
                        }})
                        .value();
  RawClient client(port);
  const auto refused = client.request("POST", "", rpc("1", "ping", ""));
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.field("www-authenticate"), "Bearer");
  const auto hello = client.request(
      "POST", "Authorization: Bearer alice\r\n",
      rpc("1", "initialize",
          R"("protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"})"));
  const std::string session = "Mcp-Session-Id: " + hello.field("mcp-session-id") + "\r\n";
  EXPECT_GE(hello.field("mcp-session-id").size(), 32U);
  EXPECT_EQ(
      text_of(
          client.request("POST", "Authorization: Bearer alice\r\n" + session, rpc("2", "tools/call", R"("name":"who")"))
              .json()),
      "alice");
  EXPECT_EQ(client.request("POST", "Authorization: Bearer bob\r\n" + session, rpc("2", "ping", "")).status, 404);
}

// OAU-10, SES-02
TEST(Authentication, NamesTheWayToANewTokenWhereOneIsWithdrawnDuringTheHandshake) {
  Listeners listeners;
  RegisteredService service({.name = "test", .version = "1"}, {}, listeners);
  const SystemClock clock;
  HttpEndpointOptions options;
  options.doorkeeper.look = [](const net::Request&) -> std::optional<Admission> {
    const auto grant = std::make_shared<const Grant>();
    grant->withdraw();
    return Caller{.principal = "mia", .grant = grant};
  };
  HttpEndpoint endpoint(service, listeners, clock, SealingKey::random(), options);
  net::TestServer server([&endpoint](net::Exchange& exchange) { return endpoint.handle(exchange); });
  RawClient client(server.port());
  const auto refused = client.request(
      "POST", "",
      rpc("1", "initialize",
          R"("protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"})"));
  EXPECT_EQ(refused.status, 401);
  EXPECT_TRUE(refused.field("www-authenticate").starts_with("Bearer")) << refused.field("www-authenticate");
}

// OAU-10, PRO-22
TEST(Authentication, RefusesARequestOfEveryTransportWhoseTokenIsWithdrawnWhileItsBodyArrives) {
  Listeners listeners;
  RegisteredService service({.name = "test", .version = "1"}, {}, listeners);
  const SystemClock clock;
  std::atomic<const Grant*> arriving = nullptr;
  HttpEndpointOptions options;
  options.doorkeeper.look = [&arriving](const net::Request& request) -> std::optional<Admission> {
    const auto grant = std::make_shared<const Grant>();
    if (request.method() == "POST") {
      arriving = grant.get();
      arriving.notify_all();
    }
    return Caller{.principal = "mia", .grant = grant};
  };
  HttpEndpoint endpoint(service, listeners, clock, SealingKey::random(), options);
  net::TestServer server(
      [&endpoint](net::Exchange& exchange) {
        return exchange.request().path() == "/sse" ? endpoint.handle_old_sse(exchange) : endpoint.handle(exchange);
      },
      {}, 1, net::TestServer::Calls::with_heads);
  const OldClient old(server.port());
  for (const std::string& url : {std::string("/mcp"), old.first.data}) {
    arriving = nullptr;
    RawClient client(server.port(), url);
    const std::string ping = rpc("1", "ping", "");
    client.send_request("POST", fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", ping.size()));
    arriving.wait(nullptr);
    arriving.load()->withdraw();  // the request keeps it until its body has arrived
    client.send(ping);
    const auto refused = client.read_answer();
    EXPECT_EQ(refused.status, 401) << url;
    EXPECT_TRUE(refused.field("www-authenticate").starts_with("Bearer")) << url;
  }
}

// The gateway exchanges the caller's token for one of an upstream.
TEST(Authentication, ReachesTheHandlerOfARequestOverEveryTransport) {
  Server server({.name = "test", .version = "1"});
  server
      .add_tool(
          {.name = "token"},
          [](Context& context) -> Outcome<ToolResult> { return ToolResult::text(context.call().authorization()); })
      .value();
  HttpOptions options;
  options.old_sse_path = "/sse";
  options.authenticate = [](std::string_view) -> Result<std::string> { return "agent"; };
  const auto port = server.listen(options).value();
  const std::string fields = "Authorization: Bearer one\r\n";
  const std::string call = rpc("1", "tools/call", R"("name":"token")");

  RawClient modern(port);
  const auto answer = modern.request("POST", fields + modern_fields("tools/call", "token"),
                                     rpc("1", "tools/call", R"("name":"token",)" + modern_meta()));
  EXPECT_EQ(text_of(answer.json()), "Bearer one");
  LegacyClient legacy(port, "2025-03-26", "{}", fields);
  EXPECT_EQ(text_of(legacy.post(call).json()), "Bearer one");
  legacy.client.send_request("POST", legacy.fields(), "[" + call + "]");
  legacy.client.read_answer();
  EXPECT_EQ(text_of(legacy.client.read_event()->json()), "Bearer one");
  OldClient old(port, fields);
  old.initialize();
  EXPECT_EQ(text_of(old.ask(call)), "Bearer one");
  old.post_as("Authorization: Bearer two\r\n", call);
  EXPECT_EQ(text_of(old.next()), "Bearer two") << "the token of this request";
}

}  // namespace
}  // namespace proteus::server
