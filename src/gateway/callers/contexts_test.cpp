#include <atomic>
#include <thread>

#include <gmock/gmock.h>

#include "gateway/testing/test_gateway.hpp"

namespace proteus::gateway {
namespace {

using catalog::Manifests;
using test::RawClient;
using test::TestGateway;
using test::Upstream;
using test::upstream_at;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

using Described = std::vector<std::pair<std::string, std::string>>;

Described described(TestGateway& gateway, std::string_view path, std::string_view fields = {}) {
  Described all;
  const auto answer = gateway.ask_at(path, "tools/list", {}, {}, fields);
  for (const auto& tool : answer.at("result").at("tools").as_array())
    all.emplace_back(tool.at("name").as_string(), tool.at("description").as_string());
  return all;
}

std::vector<std::string> resources(TestGateway& gateway, std::string_view path, std::string_view fields = {}) {
  std::vector<std::string> uris;
  const auto answer = gateway.ask_at(path, "resources/list", {}, {}, fields);
  for (const auto& one : answer.at("result").at("resources").as_array())
    uris.emplace_back(one.at("uri").as_string());
  return uris;
}

boost::json::value call_at(TestGateway& gateway, std::string_view path, std::string_view tool) {
  return gateway.ask_at(path, "tools/call", fmt::format(R"("name":"{}","arguments":{{}})", tool), tool);
}

int status_at(TestGateway& gateway, std::string path, std::string_view fields = {}) {
  RawClient client(gateway.port(), std::move(path));
  return client
      .request("POST", server::modern_fields("tools/list") + std::string(fields),
               server::rpc("1", "tools/list", server::modern_meta()))
      .status;
}

std::string instructions_at(TestGateway& gateway, std::string_view path, std::string_view fields = {}) {
  const auto result = gateway.ask_at(path, "server/discover", {}, {}, fields).at("result");
  const auto* text = result.as_object().if_contains("instructions");
  return text == nullptr ? "" : std::string(text->as_string());
}

std::unique_ptr<RawClient> listen_at(TestGateway& gateway, std::string path) {
  auto listener = std::make_unique<RawClient>(gateway.port(), std::move(path));
  listener->send_request("POST", server::modern_fields("subscriptions/listen"),
                         server::rpc("9", "subscriptions/listen",
                                     R"("notifications":{"toolsListChanged":true},)" + server::modern_meta()));
  listener->read_answer();
  listener->read_event();  // the acknowledgement
  return listener;
}

std::vector<std::string> methods_until_the_end(RawClient& listener) {
  std::vector<std::string> methods;
  while (const auto event = listener.read_event()) {
    const auto message = event->json();
    if (const auto* method = message.as_object().if_contains("method")) methods.emplace_back(method->as_string());
  }
  return methods;
}

constexpr auto kChanged = "notifications/tools/list_changed";

// CTX-01, CTX-06
TEST(Contexts, ShowEachClientTheTextsOfItsOwnContext) {
  Upstream a({"read", "write"});
  TestGateway gateway({upstream_at("a", a.port)},
                      {.manifests = {{{"one", {.tool_supplements = {{"read", "In one."}}}},
                                      {"two", {.tool_supplements = {{"a_read", "In two."}}}}},
                                     {}}});
  gateway.discover();
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(described(gateway, "/mcp/one"),
                ElementsAre(Pair("a_read", "Echoes\n\nIn one."), Pair("a_write", "Echoes")));
    EXPECT_THAT(described(gateway, "/mcp/two"),
                ElementsAre(Pair("a_read", "Echoes\n\nIn two."), Pair("a_write", "Echoes")));
    EXPECT_THAT(described(gateway, "/mcp"), ElementsAre(Pair("a_read", "Echoes"), Pair("a_write", "Echoes")));
  }
  EXPECT_EQ(call_at(gateway, "/mcp/one", "a_read").as_object().count("error"), 0U);
}

// CTX-16
TEST(Contexts, NeitherListNorCallWhatTheyExclude) {
  Upstream a({"read", "write"});
  Upstream live({"peek", "poke"});
  auto direct = upstream_at("live", live.port);
  direct.refresh_strategy = providers::RefreshStrategy::direct_proxy;
  TestGateway gateway(
      {upstream_at("a", a.port), direct},
      {.manifests = {
           {{"safe", {.exclude = {"write", "live_poke"}, .tool_supplements = {{"peek", "P."}}}}, {"open", {}}}, {}}});
  gateway.discover();
  EXPECT_THAT(described(gateway, "/mcp/safe"),
              ElementsAre(Pair("a_read", "Echoes"), Pair("live_peek", "Echoes\n\nP.")));
  EXPECT_EQ(described(gateway, "/mcp/open").size(), 4U);
  for (const std::string_view tool : {"a_write", "live_poke"}) {
    const auto excluded = call_at(gateway, "/mcp/safe", tool).at("error");
    const auto missing = call_at(gateway, "/mcp/safe", "a_none").at("error");
    EXPECT_EQ(excluded.at("code"), missing.at("code")) << tool;
    EXPECT_EQ(call_at(gateway, "/mcp/open", tool).as_object().count("error"), 0U) << tool;
  }
}

TEST(Contexts, ReadNoResourceThatTheyExcludeThroughATemplate) {
  Upstream a;
  a.server
      .add_resource_template({.uri_template = "file:///{+path}", .name = "x"},
                             [](server::Context&) -> server::Outcome<server::ResourceResult> {
                               return server::ResourceResult{.contents = {{.text = "A"}}};
                             })
      .value();
  TestGateway gateway({upstream_at("a", a.port)},
                      {.manifests = {{{"safe", {.exclude = {"resource:file:///secret*"}}}}, {}}});
  gateway.discover();
  const auto read = [&](std::string_view path, std::string_view uri) {
    return gateway.ask_at(path, "resources/read", fmt::format(R"("uri":"{}")", uri), uri);
  };
  EXPECT_EQ(read("/mcp/safe", "file:///a").at("result").at("contents").at(0).at("text"), "A");
  EXPECT_EQ(read("/mcp", "file:///secret").at("result").at("contents").at(0).at("text"), "A");
  EXPECT_TRUE(read("/mcp/safe", "file:///secret").as_object().contains("error"));
  // Neither by another spelling of the URI, nor by one that somebody might take for it.
  for (const std::string_view spelling :
       {"file:///%73ecret", "file:////secret", "file:///./secret", "file:///pub/../secret", "file:///pub/%2e%2e/secret",
        "file:///pub%2F..%2Fsecret", "file:///%2573ecret", "file:///../secret"}) {
    EXPECT_TRUE(read("/mcp/safe", spelling).as_object().contains("error")) << spelling;
    EXPECT_FALSE(read("/mcp", spelling).as_object().contains("error")) << spelling;
  }
  EXPECT_TRUE(read("/mcp/safe", "file://localhost/secret").as_object().contains("error"));
}

// An upstream may read the second of two equal keys, while the gateway decides by the first.
TEST(Contexts, CompleteNothingForAReferenceThatHasAKeyTwice) {
  Upstream a({"read"});
  TestGateway gateway({upstream_at("a", a.port)}, {.manifests = {{{"safe", {.exclude = {"prompt:secret"}}}}, {}}});
  gateway.discover();
  for (const std::string_view reference : {R"("type":"ref/prompt","name":"open","name":"secret")",
                                           R"("type":"ref/prompt","name":"open","n\u0061me":"secret")",
                                           R"("type":"ref/resource","type":"ref/prompt","uri":"x://y","name":"secret")",
                                           R"("type":"ref/resource","uri":"x://y","uri":"x://z")"}) {
    const auto refused =
        gateway.ask_at("/mcp/safe", "completion/complete",
                       fmt::format(R"("ref":{{{}}},"argument":{{"name":"a","value":"b"}})", reference));
    EXPECT_THAT(std::string(refused.at("error").at("message").as_string()), HasSubstr("twice")) << reference;
  }
}

// CTX-17, CTX-03
TEST(Contexts, AreNotThereForWhomMayNotEnterThem) {
  Upstream a({"read"});
  TestGateway gateway({upstream_at("a", a.port)},
                      {.principals = {{.name = "all", .token = Secret("all")},
                                      {.name = "few", .token = Secret("few"), .contexts = {"one"}}},
                       .manifests = {{{"one", {.siblings = {"two"}}}, {"two", {.siblings = {"one"}}}}, {}}});
  gateway.discover();
  constexpr std::string_view kAll = "Authorization: Bearer all\r\n";
  constexpr std::string_view kFew = "Authorization: Bearer few\r\n";
  EXPECT_EQ(status_at(gateway, "/mcp/two", kAll), 200);
  EXPECT_EQ(status_at(gateway, "/mcp/two", kFew), 404);
  EXPECT_EQ(status_at(gateway, "/mcp/none", kAll), 404);
  EXPECT_EQ(status_at(gateway, "/mcp", kFew), 404);
  EXPECT_EQ(status_at(gateway, "/mcp/one"), 401);
  EXPECT_THAT(described(gateway, "/mcp/one", kAll).front().second, HasSubstr("two"));
  EXPECT_EQ(described(gateway, "/mcp/one", kFew).front().second, "Echoes");
  EXPECT_THAT(resources(gateway, "/mcp/one", kFew), ElementsAre("context://one"));
  const auto read = gateway.ask_at("/mcp/one", "resources/read", R"("uri":"context://two")", "context://two", kFew);
  EXPECT_TRUE(read.as_object().contains("error"));
}

// CTX-13
TEST(Contexts, AreReloadedAndOnlyTheClientsOfThoseThatChangedAreTold) {
  Upstream a({"read"});
  Manifests manifests{{{"one", {}}, {"two", {.tool_supplements = {{"read", "In two."}}}}}, {}};
  TestGateway gateway({upstream_at("a", a.port)}, {.manifests = manifests});
  gateway.discover();
  const auto in_one = listen_at(gateway, "/mcp/one");
  const auto in_two = listen_at(gateway, "/mcp/two");
  const auto in_none = listen_at(gateway, "/mcp");
  manifests.contexts["one"].tool_supplements["read"] = "Now.";
  gateway.reload(manifests);
  EXPECT_EQ(in_one->read_event()->json().at("method"), kChanged);
  EXPECT_THAT(described(gateway, "/mcp/one"), ElementsAre(Pair("a_read", "Echoes\n\nNow.")));
  gateway.reload(manifests);
  manifests.contexts.erase("two");
  gateway.reload(manifests);
  EXPECT_THAT(methods_until_the_end(*in_two), Not(::testing::Contains(kChanged))) << "its context has gone";
  gateway.gateway.end_streams();
  EXPECT_THAT(methods_until_the_end(*in_one), Not(::testing::Contains(kChanged)));
  EXPECT_THAT(methods_until_the_end(*in_none), Not(::testing::Contains(kChanged)));
}

// CTX-16: neither what the context excluded nor anything else.
TEST(Contexts, ShowNothingToARequestWhoseBodyComesAfterTheyHaveGone) {
  std::atomic<int> calls = 0;
  Upstream a({"read"});
  a.server
      .add_tool({.name = "write"},
                [&calls](server::Context&) -> server::Outcome<server::ToolResult> {
                  ++calls;
                  return server::ToolResult::text("written");
                })
      .value();
  const std::string body =
      server::rpc("1", "tools/call", R"("name":"a_write","arguments":{},)" + server::modern_meta());
  const std::string fields = server::modern_fields("tools/call", "a_write") + test::bearer("confined") +
                             fmt::format(
                                 "Content-Type: application/json\r\nExpect: 100-continue\r\n"
                                 "Content-Length: {}\r\n",
                                 body.size());
  const Principal::Parts confined{
      .name = "ci",
      .permissions = std::make_shared<const Permissions>(catalog::Access::all(), std::vector<std::string>{"audit"}),
      .key = "ci#1",
      .token = json::sha256("confined")};
  for (const Manifests& left : {Manifests{{{"other", {}}}, {}}, Manifests{}}) {
    TestGateway gateway({upstream_at("a", a.port)}, {.principals = {{.name = "all", .token = Secret("all")}},
                                                     .manifests = {{{"audit", {.exclude = {"write"}}}}, {}}});
    gateway.discover();
    std::vector<IssuedTokens::Entry> issued{{std::make_shared<const Principal>(confined), std::make_shared<LastUse>()}};
    gateway.gateway.set_tokens(std::make_shared<const IssuedTokens>(std::move(issued)));
    RawClient slow(gateway.port(), "/mcp/audit");
    slow.send_request("POST", fields);
    ASSERT_EQ(slow.read_answer().status, 100) << "it was admitted";
    gateway.reload(left);
    slow.send(body);
    EXPECT_TRUE(slow.read_answer().json().as_object().contains("error"));
  }
  EXPECT_EQ(calls.load(), 0);
}

// CTX-18
TEST(Contexts, NameTheTypesADatasetHasNow) {
  Upstream a({"read"});
  TestGateway gateway({upstream_at("a", a.port)});
  gateway.discover();
  const auto types = std::make_shared<std::atomic<bool>>(false);
  gateway.reload({{{"c", {.schemas = {"s"}, .dataset = "acme"}}}, {{"s", {.guidance = "Types: {entity_types}."}}}},
                 [types](const std::string&) -> std::optional<catalog::DatasetTypes> {
                   if (!*types) return std::nullopt;
                   return catalog::DatasetTypes{{"person"}, {}};
                 });
  EXPECT_THAT(described(gateway, "/mcp/c"), ElementsAre(Pair("a_read", "Echoes")));
  const auto listener = listen_at(gateway, "/mcp/c");
  *types = true;
  gateway.gateway.renew_contexts();
  EXPECT_EQ(listener->read_event()->json().at("method"), kChanged);
  EXPECT_THAT(described(gateway, "/mcp/c"), ElementsAre(Pair("a_read", "Echoes\n\nTypes: person.")));
}

// CTX-19
TEST(Contexts, CanBeReadAsResources) {
  Upstream a({"read"});
  TestGateway gateway({upstream_at("a", a.port)}, {.manifests = {{{"one",
                                                                   {.display_name = "The first",
                                                                    .siblings = {"two"},
                                                                    .schemas = {"s"},
                                                                    .example_queries = {{"All", "MATCH"}}}},
                                                                  {"two", {}},
                                                                  {"three", {}}},
                                                                 {{"s", {}}}}});
  gateway.discover();
  EXPECT_THAT(resources(gateway, "/mcp/one"), ElementsAre("context://one", "context://two"));
  EXPECT_THAT(resources(gateway, "/mcp/three"), ElementsAre("context://three"));
  EXPECT_THAT(resources(gateway, "/mcp"), ElementsAre("context://one", "context://three", "context://two"));
  const auto read = gateway.ask_at("/mcp/one", "resources/read", R"("uri":"context://one")", "context://one");
  const auto text = read.at("result").at("contents").at(0).at("text").as_string();
  const auto document = boost::json::parse(std::string_view(text));
  EXPECT_EQ(document.at("display_name"), "The first");
  EXPECT_EQ(document.at("siblings").at(0).at("name"), "two");
  EXPECT_EQ(document.at("schemas").at(0), "s");
  EXPECT_EQ(document.at("example_queries").at(0).at("text"), "MATCH");
}

// CTX-14
TEST(Contexts, InstructWithoutNamingWhatIsNotSeen) {
  server::Server speaking({.name = "s", .version = "1", .instructions = "Use read first. Then use write. Good luck!"});
  for (const char* tool : {"read", "write"}) {
    speaking.add_tool({.name = tool}, [](server::Context&) { return server::ToolResult::text("x"); }).value();
  }
  const auto port = speaking.listen().value();
  TestGateway gateway(
      {upstream_at("a", port)},
      {.manifests = {
           {{"authored", {.exclude = {"write"}, .instructions = "Call a_read.\nNot a_write.\nNor a_writer.\n"}},
            {"composed", {.display_name = "Reading", .exclude = {"write"}}},
            {"none", {.exclude = {"*"}}}},
           {}}});
  gateway.discover();
  EXPECT_EQ(instructions_at(gateway, "/mcp"), "Use read first. Then use write. Good luck!");
  EXPECT_EQ(instructions_at(gateway, "/mcp/authored"), "Call a_read.\n\nNor a_writer.");
  const std::string composed = instructions_at(gateway, "/mcp/composed");
  EXPECT_THAT(composed, HasSubstr("This is Reading."));
  EXPECT_THAT(composed, HasSubstr("Use read first. Good luck!"));
  EXPECT_THAT(composed, Not(HasSubstr("write")));
  EXPECT_THAT(instructions_at(gateway, "/mcp/none"), Not(HasSubstr("Use"))) << "nothing of it is seen";
}

// An upstream must not make every caller's first answer long and slow.
TEST(Instructions, AreLeftOutWhereTheyAreTooLong) {
  for (const std::size_t size : {client::kLongestInstructions, client::kLongestInstructions + 1}) {
    server::Server speaking({.name = "s", .version = "1", .instructions = std::string(size, 'x')});
    speaking.add_tool({.name = "read"}, [](server::Context&) { return server::ToolResult::text("x"); }).value();
    TestGateway gateway({upstream_at("a", speaking.listen().value())});
    gateway.discover();
    EXPECT_EQ(instructions_at(gateway, "/mcp").size(), size > client::kLongestInstructions ? 0 : size);
  }
}

// CTX-06, CTX-13: no answer mixes texts of two versions, however often the manifests change.
TEST(Contexts, NeverMixTheirTextsWhileTheyAreReloaded) {
  std::vector<std::string> names;
  names.reserve(20);
  for (int i = 0; i < 20; ++i)
    names.push_back(fmt::format("t{}", i));
  Upstream a(names);
  const auto manifests = [](int round) {
    const std::string mark = std::to_string(round % 2);
    return Manifests{{{"one", {.schemas = {"s"}}}, {"two", {.schemas = {"t"}}}},
                     {{"s", {.guidance = "one" + mark}}, {"t", {.guidance = "two" + mark}}}};
  };
  TestGateway gateway({upstream_at("a", a.port)}, {.manifests = manifests(0)});
  gateway.discover();
  constexpr int kLists = test::kSanitized ? 250 : 1'000;  // tests/e2e/contexts.test.mjs does 10,000 and checks memory
  std::atomic<int> running = 2;
  const auto list = [&](const char* path, const std::string& word) {
    RawClient client(gateway.port(), path);
    for (int i = 0; i < kLists; ++i) {
      const auto answer = client.request("POST", server::modern_fields("tools/list"),
                                         server::rpc("1", "tools/list", server::modern_meta()));
      const auto tools = answer.json().at("result").at("tools").as_array();
      const std::string first(tools.front().at("description").as_string());
      EXPECT_TRUE(first == "Echoes\n\n" + word + "0" || first == "Echoes\n\n" + word + "1") << first;
      for (const auto& tool : tools)
        EXPECT_EQ(tool.at("description"), boost::json::value(first));
    }
    --running;
  };
  std::thread one([&] { list("/mcp/one", "one"); });
  std::thread two([&] { list("/mcp/two", "two"); });
  for (int round = 1; running > 0; ++round)
    gateway.reload(manifests(round));
  one.join();
  two.join();
}

}  // namespace
}  // namespace proteus::gateway
