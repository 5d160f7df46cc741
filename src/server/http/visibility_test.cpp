#include <atomic>
#include <stdexcept>

#include <gtest/gtest.h>

#include "server/testing/test_server.hpp"

namespace proteus::server {
namespace {

Outcome<ToolResult> nothing(Context&) { return ToolResult::text("ran"); }
Outcome<PromptResult> no_prompt(Context&) { return PromptResult{}; }
Outcome<ResourceResult> no_resource(Context&) { return ResourceResult{}; }

// A server that shows half of its definitions only to members: requests that say so in `_meta`, and one principal.
class VisibilityTest : public ::testing::Test {
 protected:
  VisibilityTest() : server({.name = "test", .version = "1"}, {.page_size = 2, .list_ttl = std::chrono::seconds(3)}) {
    const Visibility members = [this](const Context& context) {
      const auto* member = context.meta().if_contains("member");
      return (member != nullptr && *member == true) || (open && context.principal() == "alice");
    };
    for (const std::string name : {"a", "c", "e"})
      server.add_tool({.name = name}, nothing).value();
    for (const std::string name : {"b", "d", "f"})
      server.add_tool({.name = name, .visible = members}, nothing).value();
    server.add_prompt({.name = "greet", .visible = members}, no_prompt).value();
    server.add_resource({.uri = "test://secret", .name = "secret", .visible = members}, no_resource).value();
    server.add_resource_template({.uri_template = "vault://{id}", .name = "vault", .visible = members}, no_resource)
        .value();
    server.add_completion("greet", "who", [](const CompletionRequest&) { return Completion{.values = {"x"}}; });
    port = server
               .listen({.authenticate = [](std::string_view authorization) -> Result<std::string> {
                 return std::string(authorization.empty() ? authorization : authorization.substr(7));
               }})
               .value();
  }

  boost::json::value ask(std::string_view method, std::string_view params, std::string_view meta = {},
                         std::string_view name = {}, std::string_view fields = {}) {
    RawClient client(port);
    return client
        .request("POST", modern_fields(method, name) + std::string(fields),
                 rpc("1", method, std::string(params) + modern_meta("{}", meta)))
        .json();
  }

  // Returns the names on all pages, in order.
  std::string names(std::string_view meta, std::string_view fields = {}) {
    std::string out;
    std::string cursor;
    for (int page = 0; page < 10; ++page) {
      const auto result = ask("tools/list", cursor, meta, {}, fields).at("result");
      const auto& tools = result.at("tools").as_array();
      EXPECT_FALSE(tools.empty());
      for (const auto& tool : tools)
        out += tool.at("name").as_string();
      EXPECT_EQ(result.at("ttlMs"), 0);
      EXPECT_EQ(result.at("cacheScope"), "private");
      const auto* next = result.as_object().if_contains("nextCursor");
      if (next == nullptr) return out;
      cursor = fmt::format(R"("cursor":"{}",)", std::string_view(next->as_string()));
    }
    return "endless: " + out;
  }

  std::atomic<bool> open = false;
  Server server;
  std::uint16_t port = 0;
};

constexpr std::string_view kMember = R"(,"member":true)";

// PRO-07
TEST_F(VisibilityTest, ListsWhatTheRequestMaySeeAndPagesWithoutGaps) {
  EXPECT_EQ(names({}), "ace");
  EXPECT_EQ(names(kMember), "abcdef");
  EXPECT_EQ(names({}), "ace");
}

TEST_F(VisibilityTest, IsDecidedByTheRequestAndNotByTheSession) {
  LegacyClient client(port);
  const auto list = [&](std::string_view meta) {
    return client.post(rpc("1", "prompts/list", meta)).json().at("result").at("prompts").as_array().size();
  };
  EXPECT_EQ(list(""), 0U);
  EXPECT_EQ(list(R"("_meta":{"member":true})"), 1U);
  EXPECT_EQ(list(R"("_meta":{"member":false})"), 0U);
}

TEST_F(VisibilityTest, WhatIsHiddenAnswersAsWhatDoesNotExist) {
  const auto text = [](const boost::json::value& answer) {
    return std::string(answer.at("error").at("message").as_string());
  };
  const auto hidden = ask("tools/call", R"("name":"b",)", {}, "b");
  EXPECT_EQ(code_of(hidden), -32602);
  EXPECT_EQ(text(hidden), text(ask("tools/call", R"("name":"b",)", R"(,"member":"yes")", "b")));
  std::string missing = text(ask("tools/call", R"("name":"x",)", kMember, "x"));
  missing.replace(missing.find('x'), 1, "b");
  EXPECT_EQ(text(hidden), missing);

  EXPECT_EQ(code_of(ask("prompts/get", R"("name":"greet",)", {}, "greet")), -32602);
  EXPECT_EQ(code_of(ask("resources/read", R"("uri":"test://secret",)", {}, "test://secret")), -32602);
  EXPECT_EQ(code_of(ask("resources/read", R"("uri":"vault://1",)", {}, "vault://1")), -32602);
  const std::string_view wanted = R"("ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":""},)";
  EXPECT_EQ(code_of(ask("completion/complete", wanted)), -32602);
}

TEST_F(VisibilityTest, WhatIsShownAnswers) {
  EXPECT_EQ(text_of(ask("tools/call", R"("name":"b",)", kMember, "b")), "ran");
  EXPECT_TRUE(ask("prompts/get", R"("name":"greet",)", kMember, "greet").at("result").is_object());
  EXPECT_TRUE(ask("resources/read", R"("uri":"test://secret",)", kMember, "test://secret").at("result").is_object());
  EXPECT_TRUE(ask("resources/read", R"("uri":"vault://1",)", kMember, "vault://1").at("result").is_object());
  EXPECT_EQ(ask("resources/list", "", kMember).at("result").at("resources").as_array().size(), 1U);
  EXPECT_EQ(ask("resources/templates/list", "", kMember).at("result").at("resourceTemplates").as_array().size(), 1U);
}

TEST_F(VisibilityTest, APrincipalHearsOfItsOwnChangeAndNobodyElseDoes) {
  const auto listen = [](RawClient& client, std::string_view who) {
    client.send_request("POST",
                        modern_fields("subscriptions/listen") + fmt::format("Authorization: Bearer {}\r\n", who),
                        rpc("\"s\"", "subscriptions/listen",
                            R"("notifications":{"toolsListChanged":true,"promptsListChanged":true},)" + modern_meta()));
    EXPECT_EQ(client.read_answer().status, 200);
    EXPECT_EQ(client.read_event()->json().at("method"), "notifications/subscriptions/acknowledged");
  };
  RawClient alice(port);
  RawClient bob(port);
  listen(alice, "alice");
  listen(bob, "bob");
  open = true;
  server.tools_changed("alice");
  server.remove_prompt("greet");  // notifies everyone
  EXPECT_EQ(alice.read_event()->json().at("method"), "notifications/tools/list_changed");
  EXPECT_EQ(alice.read_event()->json().at("method"), "notifications/prompts/list_changed");
  EXPECT_EQ(bob.read_event()->json().at("method"), "notifications/prompts/list_changed");
  EXPECT_EQ(names({}, "Authorization: Bearer alice\r\n"), "abcdef");
  EXPECT_EQ(names({}, "Authorization: Bearer bob\r\n"), "ace");
}

TEST_F(VisibilityTest, OneThatThrowsHides) {
  server.add_tool({.name = "b", .visible = [](const Context&) -> bool { throw std::runtime_error("no"); }}, nothing)
      .value();
  EXPECT_EQ(names(kMember), "acdef");
  EXPECT_EQ(code_of(ask("tools/call", R"("name":"b",)", kMember, "b")), -32602);
}

}  // namespace
}  // namespace proteus::server
