#include <gmock/gmock.h>

#include "gateway/testing/routing_fixture.hpp"
#include "gateway/testing/session_upstream.hpp"
#include "gateway/testing/test_gateway.hpp"

// OAU-07, AUT-02: rules for entries hold on every path to the entries.
namespace proteus::gateway {
namespace {

using catalog::Kind;
using server::LegacyClient;
using server::modern_fields;
using server::modern_meta;
using server::RawClient;
using server::rpc;
using test::bearer;
using test::ListingUpstream;
using test::TestGateway;
using test::Upstream;
using test::upstream_at;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

PrincipalSettings ada(catalog::EntryRules rules) {
  return {.name = "ada", .token = Secret("a"), .entries = std::move(rules)};
}
PrincipalSettings bob() { return {.name = "bob", .token = Secret("b")}; }

providers::UpstreamSettings live_at(const ListingUpstream& upstream) {
  auto settings = upstream_at(upstream.name(), upstream.port());
  settings.refresh_strategy = providers::RefreshStrategy::direct_proxy;
  return settings;
}

// Replaces the name in an error, so that errors for different names can be compared.
std::string about(std::string message, std::string_view name) {
  for (std::size_t at = message.find(name); at != std::string::npos; at = message.find(name, at))
    message.replace(at, name.size(), "NAME");
  return message;
}

std::string refusal(TestGateway& gateway, std::string_view method, std::string_view key, std::string_view name) {
  const auto answer = gateway.ask(method, fmt::format(R"("{}":"{}")", key, name), name, bearer("a"));
  return about(boost::json::serialize(answer), name);
}

std::vector<std::string> names_in(const boost::json::value& answer, Kind kind) {
  std::vector<std::string> names;
  for (const auto& entry : answer.at("result").at(catalog::info(kind).member).as_array())
    names.emplace_back(entry.at(catalog::info(kind).key).as_string());
  return names;
}

std::vector<std::string> listed_to(TestGateway& gateway, Kind kind, std::string_view token,
                                   std::string_view path = "/mcp") {
  const auto method = mcp::to_string(catalog::info(kind).list_method);
  return names_in(gateway.ask_at(path, method, {}, {}, bearer(token)), kind);
}

class EntryAccess : public ::testing::Test {
 protected:
  EntryAccess() {
    upstream.show(Kind::tool, "", {"get", "get_all", "set"});
    upstream.show(Kind::prompt, "", {"ask", "tell"});
    upstream.show(Kind::resource, "", {"test://public/a", "test://secret/a"});
    upstream.show(Kind::resource_template, "", {"test://public/{x}", "test://{x}"});
    upstream.declare_read_only({"get", "get_all"});
  }

  ListingUpstream upstream{"up"};
  const catalog::EntryRules rules{.allow = {"up_*", "prompt:up_a*", "resource:test://*"},
                                  .deny = {"up_get_*", "resource:test://secret/*", "resource:test://{x}"},
                                  .read_only = true};
};

TEST_F(EntryAccess, CutsEveryListOfACachedAndOfALiveUpstream) {
  for (const bool direct : {false, true}) {
    TestGateway gateway({direct ? live_at(upstream) : upstream_at("up", upstream.port())},
                        {.principals = {ada(rules), bob()}});
    gateway.discover();
    EXPECT_THAT(listed_to(gateway, Kind::tool, "a"), ElementsAre("up_get"));
    EXPECT_THAT(listed_to(gateway, Kind::prompt, "a"), ElementsAre("up_ask"));
    EXPECT_THAT(listed_to(gateway, Kind::resource, "a"), ElementsAre("test://public/a"));
    EXPECT_THAT(listed_to(gateway, Kind::resource_template, "a"), ElementsAre("test://public/{x}"));
    EXPECT_EQ(listed_to(gateway, Kind::tool, "b").size(), 3U);
    LegacyClient client(gateway.port(), "2025-11-25", "{}", bearer("a"));
    EXPECT_THAT(names_in(client.post(rpc("1", "tools/list", "")).json(), Kind::tool), ElementsAre("up_get"));
  }
}

TEST_F(EntryAccess, AnswersForWhatMayNotBeUsedAsForWhatDoesNotExist) {
  for (const bool direct : {false, true}) {
    TestGateway gateway({direct ? live_at(upstream) : upstream_at("up", upstream.port())},
                        {.principals = {ada(rules), bob()}});
    gateway.discover();
    const auto same = [&](std::string_view method, std::string_view key, std::string_view hidden,
                          std::string_view unknown) {
      EXPECT_EQ(refusal(gateway, method, key, hidden), refusal(gateway, method, key, unknown)) << hidden;
      EXPECT_THAT(refusal(gateway, method, key, hidden), HasSubstr("error"));
    };
    // Before any list that the gateway might remember.
    same("tools/call", "name", "up_set", "up_nothing");
    same("tools/call", "name", "up_get_all", "up_get_nothing");
    same("prompts/get", "name", "up_tell", "up_nothing");
    same("resources/read", "uri", "test://secret/a", "other://a");
    same("resources/read", "uri", "test://public/../secret/a", "other://a");
    same("resources/read", "uri", "test://public/%2e%2e/secret/a", "other://a");
    const auto completed = [&](std::string_view reference) {
      return boost::json::serialize(
          gateway.ask("completion/complete",
                      fmt::format(R"("ref":{{{}}},"argument":{{"name":"x","value":""}})", reference), {}, bearer("a")));
    };
    EXPECT_EQ(about(completed(R"("type":"ref/prompt","name":"up_tell")"), "up_tell"),
              about(completed(R"("type":"ref/prompt","name":"up_nothing")"), "up_nothing"));
    EXPECT_EQ(about(completed(R"("type":"ref/resource","uri":"test://{x}")"), "test://{x}"),
              about(completed(R"("type":"ref/resource","uri":"other://{x}")"), "other://{x}"));
    LegacyClient client(gateway.port(), "2025-11-25", "{}", bearer("a"));
    EXPECT_EQ(about(client.call("1", "up_set").body, "up_set"),
              about(client.call("1", "up_nothing").body, "up_nothing"));
    EXPECT_THAT(client.post(rpc("2", "resources/subscribe", R"("uri":"test://secret/a")")).body, HasSubstr("error"));
    EXPECT_THAT(upstream.take_asked(), IsEmpty()) << "nothing of that reached the upstream";

    EXPECT_TRUE(gateway.call("up_get", "{}", bearer("a")).as_object().contains("result"));
    EXPECT_TRUE(gateway.call("up_set", "{}", bearer("b")).as_object().contains("result"));
    EXPECT_EQ(upstream.take_asked().size(), 2U);
  }
}

// The gateway reads what a tool declares before it forwards a call. If the list cannot be read, nothing is forwarded.
TEST_F(EntryAccess, SendsNoLiveToolThatIsNotKnownToBeReadOnly) {
  TestGateway gateway({live_at(upstream)}, {.principals = {ada({.read_only = true}), bob()}});
  gateway.discover();
  upstream.set_mute(true);
  const auto answer = boost::json::serialize(gateway.call("up_get", "{}", bearer("a")));
  EXPECT_THAT(answer, HasSubstr("cannot say whether"));
  EXPECT_THAT(upstream.take_asked(), IsEmpty());
  upstream.set_mute(false);
  EXPECT_TRUE(gateway.call("up_get", "{}", bearer("a")).as_object().contains("result"));
  EXPECT_TRUE(gateway.call("up_set", "{}", bearer("a")).as_object().contains("error"));
  EXPECT_EQ(upstream.take_asked().size(), 1U);
}

// The rules hold for a live tool's portable name, for its original name, and for a name that was never listed.
TEST_F(EntryAccess, ComparesThePortableNameOfALiveTool) {
  upstream.show(Kind::tool, "", {"get.all", "set"});
  auto settings = live_at(upstream);
  settings.names = providers::NameStyle::portable;
  TestGateway gateway({settings}, {.principals = {ada({.deny = {"up_get_all"}}), bob()}});
  gateway.discover();
  EXPECT_THAT(listed_to(gateway, Kind::tool, "a"), ElementsAre("up_set"));
  for (const std::string_view name : {"up_get_all", "up_get.all", "up_hidden.one"})
    EXPECT_TRUE(gateway.call(name, "{}", bearer("a")).as_object().contains("error")) << name;
  EXPECT_THAT(upstream.take_asked(), IsEmpty());
  EXPECT_TRUE(gateway.call("up_get.all", "{}", bearer("b")).as_object().contains("result"));
}

TEST_F(EntryAccess, RefusesTheCursorOfOtherRules) {
  TestGateway gateway({upstream_at("up", upstream.port())},
                      {.principals = {ada({.deny = {"up_set"}}), bob()}, .page_size = 1});
  gateway.discover();
  const auto page = gateway.ask("tools/list", {}, {}, bearer("b")).at("result");
  const std::string cursor = fmt::format(R"("cursor":"{}")", std::string_view(page.at("nextCursor").as_string()));
  EXPECT_TRUE(gateway.ask("tools/list", cursor, {}, bearer("b")).as_object().contains("result"));
  EXPECT_TRUE(gateway.ask("tools/list", cursor, {}, bearer("a")).as_object().contains("error"));
}

// The rules also hold in contexts, and for the resource by which a context describes itself.
TEST_F(EntryAccess, HoldsInContexts) {
  TestGateway gateway({upstream_at("up", upstream.port())},
                      {.principals = {ada({.deny = {"up_get*", "resource:context://*"}}), bob()},
                       .manifests = {{{"c", {.exclude = {"up_set"}, .instructions = {}}}}, {}}});
  gateway.discover();
  EXPECT_THAT(listed_to(gateway, Kind::tool, "a", "/mcp/c"), IsEmpty());
  EXPECT_THAT(listed_to(gateway, Kind::tool, "b", "/mcp/c"), ElementsAre("up_get", "up_get_all"));
  EXPECT_THAT(listed_to(gateway, Kind::resource, "b", "/mcp/c"), Contains("context://c"));
  EXPECT_THAT(listed_to(gateway, Kind::resource, "a", "/mcp/c"), Not(Contains("context://c")));
  const auto read = [&](std::string_view token) {
    return gateway.ask_at("/mcp/c", "resources/read", R"("uri":"context://c")", "context://c", bearer(token));
  };
  EXPECT_TRUE(read("b").as_object().contains("result"));
  EXPECT_TRUE(read("a").as_object().contains("error"));
  const auto instructions = [&](std::string_view token) {
    return boost::json::serialize(gateway.ask_at("/mcp/c", "server/discover", {}, {}, bearer(token)));
  };
  EXPECT_THAT(instructions("b"), HasSubstr("context://c"));
  EXPECT_THAT(instructions("a"), Not(HasSubstr("context://c")));
}

TEST(EntryAccessOfInstructions, NamesNothingThatMayNotBeUsed) {
  server::Server speaking({.name = "s", .version = "1", .instructions = "Use read first. Then use write. Good luck!"});
  for (const char* const name : {"read", "write"}) {
    speaking
        .add_tool({.name = name},
                  [](server::Context&) -> server::Outcome<server::ToolResult> { return server::ToolResult::text("x"); })
        .value();
  }
  TestGateway gateway({upstream_at("a", speaking.listen().value())},
                      {.principals = {ada({.deny = {"a_write"}}), bob()}});
  gateway.discover();
  const auto text = [&](std::string_view token) {
    const auto result = gateway.ask("server/discover", {}, {}, bearer(token)).at("result");
    return std::string(result.at("instructions").as_string());
  };
  EXPECT_THAT(text("b"), HasSubstr("Then use write."));
  EXPECT_EQ(text("a"), "Use read first. Good luck!");
}

// The rules also hold for what an upstream shows to one session alone.
TEST(EntryAccessOfSessions, HoldsForWhatAnUpstreamMadeForOneCaller) {
  test::SessionUpstream upstream;
  TestGateway gateway({upstream_at("up", upstream.port())},
                      {.principals = {ada({.deny = {"resource:test://own"}}), bob()}});
  gateway.discover();
  struct Attached {
    Attached(TestGateway& gateway, std::string_view token)
        : client(gateway.port(), "2025-11-25", "{}", bearer(token)), stream(gateway.port()) {
      EXPECT_EQ(stream.request("GET", client.fields() + "Accept: text/event-stream\r\n").status, 200);
    }
    std::vector<std::string> resources() {
      return names_in(client.post(rpc("2", "resources/list", "")).json(), Kind::resource);
    }
    LegacyClient client;
    RawClient stream;
  };
  Attached of_bob(gateway, "b");
  of_bob.client.call("1", "up_make");
  EXPECT_TRUE(of_bob.stream.read_event());
  EXPECT_THAT(of_bob.resources(), Contains("test://own"));
  Attached of_ada(gateway, "a");
  of_ada.client.call("1", "up_make");
  EXPECT_THAT(of_ada.resources(), ElementsAre("test://shared")) << "which waits for what was announced to it";
  const auto read = of_ada.client.post(rpc("3", "resources/read", R"("uri":"test://own")"));
  EXPECT_THAT(read.body, HasSubstr("Resource not found"));
  gateway.gateway.end_streams();
  while (const auto event = of_ada.stream.read_event())
    EXPECT_THAT(event->data, Not(HasSubstr("list_changed")));
}

// AUT-04, OAU-07
TEST(EntryAccessByReload, EndsWhatIsOpenAndChangesTheNextRequest) {
  Upstream upstream({"get", "set"});
  TestGateway gateway({upstream_at("up", upstream.port)}, {.principals = {ada({}), bob()}});
  gateway.discover();
  LegacyClient client(gateway.port(), "2025-11-25", "{}", bearer("a"));
  EXPECT_EQ(gateway.tools(bearer("a")).size(), 2U);
  const auto reload = [&](catalog::EntryRules rules) {
    const auto before = gateway.gateway.access();
    gateway.gateway.set_access({std::make_shared<const Principals>(std::vector{ada(std::move(rules)), bob()},
                                                                   Anonymous::refused, before->principals.get()),
                                before->contexts});
  };
  reload({.deny = {"up_set"}});
  EXPECT_THAT(gateway.tools(bearer("a")), ElementsAre("up_get"));
  EXPECT_EQ(client.post(rpc("1", "tools/list", "")).status, 404) << "the session has ended";
  LegacyClient again(gateway.port(), "2025-11-25", "{}", bearer("a"));
  reload({.deny = {"up_set"}});
  EXPECT_EQ(again.post(rpc("1", "tools/list", "")).status, 200) << "nothing has changed";
}

// Callers are notified only of entries that they may use.
TEST(EntryAccessOfChanges, TellsOfEntriesThatAreLeft) {
  Upstream upstream({"get"});
  TestGateway gateway({upstream_at("up", upstream.port)}, {.principals = {ada({.allow = {"up_get*"}}), bob()}});
  gateway.discover();
  const auto listen = [&](std::string_view token) {
    auto client = std::make_unique<RawClient>(gateway.port());
    client->request("POST", modern_fields("subscriptions/listen") + bearer(token),
                    rpc("7", "subscriptions/listen", R"("notifications":{"toolsListChanged":true},)" + modern_meta()));
    client->read_event();  // the acknowledgement
    return client;
  };
  const auto of_ada = listen("a");
  const auto of_bob = listen("b");
  upstream.add("set");
  EXPECT_EQ(of_bob->read_event()->json().at("method"), "notifications/tools/list_changed");
  EXPECT_EQ(gateway.tools(bearer("b")).size(), 2U);
  upstream.add("get_more");
  EXPECT_EQ(of_bob->read_event()->json().at("method"), "notifications/tools/list_changed");
  gateway.gateway.end_streams();
  int told = 0;
  while (const auto event = of_ada->read_event()) {
    const auto message = event->json();
    const auto* method = message.as_object().if_contains("method");
    if (method != nullptr && method->as_string() == "notifications/tools/list_changed") ++told;
  }
  EXPECT_EQ(told, 1);
}

// OAU-09: derived data belongs to permissions, not to principals.
TEST(Permissions, AreSharedByAllWhomTheSameRuleIsFor) {
  std::vector<PrincipalSettings> many;
  for (int i = 0; i < 3000; ++i) {
    PrincipalSettings one = ada({.deny = {fmt::format("x{}", i % 3)}});
    one.name = fmt::format("p{}", i);
    one.token = Secret(fmt::format("t{}", i));
    many.push_back(std::move(one));
  }
  const Principals before(many, Anonymous::refused);
  const auto permissions = [](const Principals& of, int i) {
    return &of.find(json::sha256(fmt::format("t{}", i)))->permissions();
  };
  std::set<const Permissions*> different;
  for (int i = 0; i < 3000; ++i)
    different.insert(permissions(before, i));
  EXPECT_EQ(different.size(), 3U);
  const Principals after(many, Anonymous::refused, &before);
  EXPECT_EQ(permissions(after, 7), permissions(before, 7)) << "after a reload, too";
}

// OAU-07
TEST(RequestsPerMinute, AreAPrincipalsOwn) {
  Upstream upstream;
  PrincipalSettings limited = ada({});
  limited.requests_per_minute = 2;
  TestGateway gateway({upstream_at("up", upstream.port)}, {.principals = {limited, bob()}});
  gateway.discover();
  const auto status = [&](std::string_view token) {
    RawClient client(gateway.port());
    const auto answer =
        client.request("POST", modern_fields("tools/list") + bearer(token), rpc("1", "tools/list", modern_meta()));
    if (answer.status == 429) EXPECT_FALSE(answer.field("retry-after").empty());
    return answer.status;
  };
  EXPECT_EQ(status("a"), 200);
  EXPECT_EQ(status("a"), 200);
  EXPECT_EQ(status("a"), 429);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(status("b"), 200);
}

}  // namespace
}  // namespace proteus::gateway
