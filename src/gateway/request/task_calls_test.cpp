#include <gmock/gmock.h>

#include "gateway/testing/bridge_fixture.hpp"
#include "gateway/testing/scripted_upstream.hpp"
#include "gateway/testing/test_gateway.hpp"

// Tasks of 2025-11-25 and of the extension, between clients and upstreams that use the same form.
namespace proteus::gateway {
namespace {

using server::code_of;
using server::LegacyClient;
using server::rpc;
using server::text_of;
using test::bearer;
using test::ModernClient;
using test::Reaction;
using test::ScriptedUpstream;
using test::TestGateway;
using test::upstream_at;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kTaskTools =
    R"({"tools":[{"name":"slow","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}},
        {"name":"either","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}},
        {"name":"plain","inputSchema":{"type":"object"}}]})";

std::string task(std::string_view id, std::string_view status) {
  return fmt::format(
      R"("taskId":"{}","status":"{}","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":60000)",
      id, status);
}

// A legacy server whose only task has the id `1`, so that all such servers use the same id.
Reaction answer_with_tasks(const boost::json::object& message) {
  const std::string_view method = message.at("method").as_string();
  if (method == "initialize") {
    return std::string(
        R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"tasks","version":"1"}})");
  }
  if (method == "tools/list") return std::string(kTaskTools);
  const auto* const params = message.if_contains("params");
  if (method == "tools/call" && params->as_object().contains("task"))
    return fmt::format(R"({{"task":{{{}}}}})", task("1", "working"));
  if (method == "tools/call") return std::string(R"({"content":[{"type":"text","text":"at once"}]})");
  if (method == "tasks/get" || method == "tasks/cancel" || method == "tasks/result") {
    if (params->at("taskId") != "1") return Reaction::error(R"({"code":-32602,"message":"Task not found"})");
    if (method != "tasks/result")
      return fmt::format("{{{}}}", task("1", method == "tasks/get" ? "working" : "cancelled"));
    return std::string(
        R"({"content":[{"type":"text","text":"done"}],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"},"x":1}})");
  }
  return Reaction::error(R"({"code":-32601,"message":"unknown"})");
}

// Reads the task id of a task, or of a reference to one.
std::string id_of(const boost::json::value& task) { return std::string(task.at("taskId").as_string()); }

class LegacyTasks : public ::testing::Test {
 protected:
  LegacyTasks()
      : gateway({upstream_at("a", first.port()), upstream_at("b", second.port())},
                {.principals = {{.name = "ada", .token = Secret("ada-token")},
                                {.name = "bob", .token = Secret("bob-token")},
                                {.name = "carol", .token = Secret("carol-token"), .upstreams = {"b"}}}}) {
    gateway.discover();
  }

  static std::string of(std::string_view who) { return bearer(fmt::format("{}-token", who)); }
  LegacyClient client(std::string_view who, std::string_view version = "2025-11-25") const {
    return LegacyClient(gateway.port(), version, "{}", of(who));
  }
  // Calls a tool as a task and returns the task's id.
  static std::string begin(LegacyClient& client, std::string_view tool) {
    const auto answer = client.call("1", tool, R"(,"arguments":{},"task":{"ttl":60000})").json();
    return std::string(answer.at("result").at("task").at("taskId").as_string());
  }
  static boost::json::value about(LegacyClient& client, std::string_view method, std::string_view id) {
    return client.post(rpc("2", method, fmt::format(R"("taskId":"{}")", id))).json();
  }
  std::vector<std::string> listed(LegacyClient& client) {
    std::vector<std::string> names;
    const auto answer = client.post(rpc("3", "tools/list", "")).json();
    for (const auto& tool : answer.at("result").at("tools").as_array())
      names.emplace_back(tool.at("name").as_string());
    return names;
  }

  ScriptedUpstream first{answer_with_tasks, ScriptedUpstream::Discover::scripted};
  ScriptedUpstream second{answer_with_tasks, ScriptedUpstream::Discover::scripted};
  TestGateway gateway;
};

// TSK-01
TEST_F(LegacyTasks, PassBetweenAClientAndAnUpstreamOf2025) {
  LegacyClient ada = client("ada");
  EXPECT_TRUE(ada.hello.at("result").at("capabilities").as_object().contains("tasks"));
  const std::string id = begin(ada, "a_slow");
  EXPECT_NE(id, "1");
  const auto got = about(ada, "tasks/get", id).at("result");
  EXPECT_EQ(id_of(got), id);
  EXPECT_EQ(got.at("status"), "working");
  EXPECT_EQ(got.at("ttl"), 60000);
  const auto result = about(ada, "tasks/result", id);
  EXPECT_EQ(text_of(result), "done");
  const auto& meta = result.at("result").at("_meta");
  EXPECT_EQ(id_of(meta.at("io.modelcontextprotocol/related-task")), id);
  EXPECT_EQ(meta.at("x"), 1);
  EXPECT_EQ(about(ada, "tasks/cancel", id).at("result").at("status"), "cancelled");
  const auto calls = first.received("tools/call");
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].at("params").at("task").at("ttl"), 60000);
  EXPECT_EQ(text_of(ada.call("4", "a_either", R"(,"arguments":{})").json()), "at once");
}

// TSK-01
TEST_F(LegacyTasks, OfTwoUpstreamsWithEqualIdsDoNotMeet) {
  LegacyClient ada = client("ada");
  const std::string at_a = begin(ada, "a_slow");
  const std::string at_b = begin(ada, "b_slow");
  EXPECT_NE(at_a, at_b);
  EXPECT_EQ(id_of(about(ada, "tasks/get", at_b).at("result")), at_b);
  EXPECT_THAT(first.received("tasks/get"), IsEmpty());
  ASSERT_EQ(second.received("tasks/get").size(), 1U);
  EXPECT_EQ(second.received("tasks/get")[0].at("params").at("taskId"), "1");
}

// TSK-01
TEST_F(LegacyTasks, OfACallerAreReachedByNobodyElse) {
  LegacyClient ada = client("ada");
  LegacyClient bob = client("bob");
  const std::string id = begin(ada, "a_slow");
  const std::string of_bob = begin(bob, "a_slow");
  EXPECT_NE(id, of_bob) << "the upstream gave both the same";
  for (const auto* const method : {"tasks/get", "tasks/result", "tasks/cancel"}) {
    EXPECT_EQ(code_of(about(bob, method, id)), -32602) << method;
    EXPECT_EQ(code_of(about(bob, method, "1")), -32602) << "an upstream's own id is no id";
    std::string changed = id;
    changed[20] = changed[20] == 'A' ? 'B' : 'A';
    EXPECT_EQ(code_of(about(ada, method, changed)), -32602);
    EXPECT_THAT(first.received(method), IsEmpty());
  }
  LegacyClient later = client("ada");
  EXPECT_EQ(id_of(about(later, "tasks/get", id).at("result")), id) << "another session of the same caller";
}

// TSK-01
TEST_F(LegacyTasks, AreListedToTheSessionThatBeganThem) {
  LegacyClient ada = client("ada");
  LegacyClient bob = client("bob");
  const std::string at_a = begin(ada, "a_slow");
  const std::string at_b = begin(ada, "b_slow");
  const auto page = ada.post(rpc("5", "tasks/list", "")).json().at("result").at("tasks").as_array();
  ASSERT_EQ(page.size(), 2U);
  EXPECT_EQ(id_of(page[0]), at_a);
  EXPECT_EQ(id_of(page[1]), at_b);
  EXPECT_EQ(page[1].at("status"), "working");
  const auto first_page = ada.post(rpc("5", "tasks/list", R"("cursor":"")")).json().at("result").at("tasks");
  EXPECT_EQ(first_page.as_array().size(), 2U) << "an empty cursor is none";
  EXPECT_TRUE(bob.post(rpc("5", "tasks/list", "")).json().at("result").at("tasks").as_array().empty());
  EXPECT_EQ(code_of(ada.post(rpc("5", "tasks/list", R"("cursor":"x")")).json()), -32602);
}

// TSK-01
TEST_F(LegacyTasks, EndWithTheAccessToTheirTool) {
  LegacyClient ada = client("ada");
  const std::string id = begin(ada, "a_slow");
  LegacyClient carol = client("carol");
  EXPECT_EQ(code_of(about(carol, "tasks/get", id)), -32602);
  ASSERT_TRUE(gateway.set({upstream_at("b", second.port())}));
  EXPECT_EQ(code_of(about(ada, "tasks/get", id)), -32602);
}

// TSK-01: a tool exists only for clients that use the upstream's form of tasks.
TEST_F(LegacyTasks, ToolsThatNeedThemAreListedToClientsOf2025Alone) {
  LegacyClient ada = client("ada");
  EXPECT_THAT(listed(ada), ElementsAre("a_either", "a_plain", "a_slow", "b_either", "b_plain", "b_slow"));
  LegacyClient older = client("ada", "2025-06-18");
  EXPECT_THAT(listed(older), ElementsAre("a_either", "a_plain", "b_either", "b_plain"));
  EXPECT_FALSE(older.hello.at("result").at("capabilities").as_object().contains("tasks"));
  EXPECT_EQ(code_of(about(older, "tasks/get", "1")), -32601);
  EXPECT_EQ(code_of(older.call("1", "a_slow").json()), -32602) << "as a tool that is not there";
  EXPECT_THAT(gateway.tools(of("ada")), ElementsAre("a_either", "a_plain", "b_either", "b_plain"));
  EXPECT_EQ(code_of(gateway.call("a_slow", "{}", of("ada"))), -32602);
  const auto discovered = gateway.ask("server/discover", {}, {}, of("ada")).at("result").at("capabilities");
  EXPECT_FALSE(discovered.as_object().contains("tasks") || discovered.as_object().contains("extensions"));
  EXPECT_THAT(first.received("tools/call"), IsEmpty());
}

// TSK-01: for clients that do not know tasks, `task` is a member like any other.
TEST_F(LegacyTasks, AreNotBegunByClientsThatDoNotKnowThem) {
  LegacyClient older = client("ada", "2025-06-18");
  EXPECT_EQ(text_of(older.call("1", "a_either", R"(,"arguments":{},"task":{})").json()), "at once");
  ModernClient modern(gateway, "{}", "ada-token");
  EXPECT_EQ(text_of(modern.call("a_either", R"(,"task":{})")), "at once");
  for (const auto& call : first.received("tools/call"))
    EXPECT_FALSE(call.at("params").as_object().contains("task"));
}

// TSK-01: a session is notified of its own tasks only, with the ids that its client knows.
TEST_F(LegacyTasks, AreToldOfByTheIdsOfTheClient) {
  const auto telling = [](const boost::json::object& message) -> Reaction {
    if (message.at("method") != "tasks/get") return answer_with_tasks(message);
    const auto told = [](std::string_view id) {
      return fmt::format(
          "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tasks/status\",\"params\":{{{}}}}}\n\n",
          task(id, "working"));
    };
    return Reaction::events(told("of another session") + told("1") +
                            fmt::format("data: {{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{{}}}}}\n\n",
                                        boost::json::serialize(message.at("id")), task("1", "working")));
  };
  ScriptedUpstream upstream(telling, ScriptedUpstream::Discover::scripted);
  TestGateway own({upstream_at("t", upstream.port())});
  own.discover();
  LegacyClient listening(own.port());
  server::RawClient stream(own.port());
  ASSERT_EQ(stream.request("GET", listening.fields()).status, 200);
  const std::string id = begin(listening, "t_slow");
  EXPECT_EQ(id_of(about(listening, "tasks/get", id).at("result")), id);
  const auto event = stream.read_event();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->json().at("method"), "notifications/tasks/status");
  EXPECT_EQ(id_of(event->json().at("params")), id);
}

// A modern server whose calls become tasks if the client declares the extension.
Reaction answer_with_extension(const boost::json::object& message) {
  const std::string_view method = message.at("method").as_string();
  if (method == "server/discover") {
    return std::string(
        R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}},"ttlMs":0,"cacheScope":"private"})");
  }
  if (method == "initialize") return Reaction::refuse(400, "");
  if (auto list = test::small_lists(message, "tool")) return *list;
  const auto& params = message.at("params").as_object();
  const auto& meta = params.at("_meta").as_object();
  const bool knows = boost::json::serialize(meta.at("io.modelcontextprotocol/clientCapabilities")).contains("/tasks");
  if (method == "tools/call" && knows)
    return std::string(R"({"resultType":"task","taskId":"1","status":"working","ttlMs":60000,"pollIntervalMs":5})");
  if (method == "tools/call")
    return std::string(R"({"resultType":"complete","content":[{"type":"text","text":"at once"}]})");
  if (method == "tasks/get")
    return std::string(
        R"({"resultType":"complete","taskId":"1","status":"completed","ttlMs":60000,"result":{"content":[]}})");
  return std::string(R"({"resultType":"complete"})");
}

constexpr std::string_view kKnowsTasks = R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})";

class ModernTasks : public ::testing::Test {
 protected:
  ModernTasks()
      : gateway({upstream_at("a", first.port()), upstream_at("b", second.port())},
                {.principals = {{.name = "ada", .token = Secret("ada-token")},
                                {.name = "bob", .token = Secret("bob-token")}}}) {
    gateway.discover();
  }
  static boost::json::value about(ModernClient& client, std::string_view method, std::string_view id,
                                  std::string_view more = {}) {
    return client.send(method, id, fmt::format(R"("taskId":"{}"{})", id, more)).json();
  }

  ScriptedUpstream first{answer_with_extension, ScriptedUpstream::Discover::scripted};
  ScriptedUpstream second{answer_with_extension, ScriptedUpstream::Discover::scripted};
  TestGateway gateway;
};

// TSK-01
TEST_F(ModernTasks, PassBetweenAClientAndAnUpstreamWithTheExtension) {
  ModernClient ada(gateway, kKnowsTasks, "ada-token");
  const auto begun = ada.call("a_tool").at("result");
  EXPECT_EQ(begun.at("resultType"), "task");
  EXPECT_EQ(begun.at("ttlMs"), 60000);
  EXPECT_EQ(begun.at("pollIntervalMs"), 5);
  const std::string id(begun.at("taskId").as_string());
  EXPECT_EQ(id_of(ada.call("a_tool").at("result")), id) << "the same task has the same id";
  const auto got = about(ada, "tasks/get", id).at("result");
  EXPECT_EQ(got.at("resultType"), "complete");
  EXPECT_EQ(id_of(got), id);
  EXPECT_EQ(got.at("ttlMs"), 60000);
  EXPECT_TRUE(got.at("result").as_object().contains("content"));
  EXPECT_EQ(
      about(ada, "tasks/update", id, R"(,"inputResponses":{"k":{"action":"accept"}})").at("result").at("resultType"),
      "complete");
  ASSERT_EQ(first.received("tasks/update").size(), 1U);
  const auto updated = first.received("tasks/update")[0].at("params");
  EXPECT_EQ(updated.at("taskId"), "1");
  EXPECT_EQ(updated.at("inputResponses").at("k").at("action"), "accept");
  EXPECT_TRUE(about(ada, "tasks/cancel", id).as_object().contains("result"));
  EXPECT_THAT(first.headers("Mcp-Name"), ::testing::Contains("1")) << "the name that the upstream knows";
  EXPECT_EQ(code_of(about(ada, "tasks/result", id)), -32601);
}

// TSK-01
TEST_F(ModernTasks, OfACallerAreReachedByNobodyElse) {
  ModernClient ada(gateway, kKnowsTasks, "ada-token");
  ModernClient bob(gateway, kKnowsTasks, "bob-token");
  const std::string id(ada.call("a_tool").at("result").at("taskId").as_string());
  const std::string at_b(ada.call("b_tool").at("result").at("taskId").as_string());
  EXPECT_NE(id, at_b);
  EXPECT_EQ(code_of(about(bob, "tasks/get", id)), -32602);
  EXPECT_EQ(code_of(about(bob, "tasks/cancel", id)), -32602);
  EXPECT_THAT(first.received("tasks/get"), IsEmpty());
  EXPECT_EQ(id_of(about(ada, "tasks/get", at_b).at("result")), at_b);
  EXPECT_EQ(second.received("tasks/get").size(), 1U);
}

// TSK-01
TEST_F(ModernTasks, AreDeclaredWhereAnUpstreamHasThem) {
  const std::string fields = bearer("ada-token");
  const auto capabilities = gateway.ask("server/discover", {}, {}, fields).at("result").at("capabilities");
  EXPECT_TRUE(capabilities.at("extensions").as_object().contains("io.modelcontextprotocol/tasks"));
  EXPECT_FALSE(capabilities.as_object().contains("tasks"));
  LegacyClient legacy(gateway.port(), "2025-11-25", kKnowsTasks, fields);
  EXPECT_FALSE(legacy.hello.at("result").at("capabilities").as_object().contains("tasks"));
  EXPECT_EQ(text_of(legacy.call("1", "a_tool", R"(,"arguments":{})").json()), "at once")
      << "the extension enables nothing in a session";
  EXPECT_EQ(code_of(legacy.call("1", "a_tool", R"(,"arguments":{},"task":{})").json()), -32601);
}

}  // namespace
}  // namespace proteus::gateway
