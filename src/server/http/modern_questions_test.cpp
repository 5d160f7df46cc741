// Questions of a tool to a modern client, and the client's answers.
#include <gtest/gtest.h>

#include "server/testing/test_server.hpp"

namespace proteus::server {
namespace {

class ModernQuestions : public ::testing::Test {
 protected:
  ModernQuestions() : server({.name = "test", .version = "1"}, {}) {
    server
        .add_tool({.name = "ask"},
                  [](Context& context) -> Outcome<ToolResult> {
                    const auto* answer = context.answer("name");
                    if (answer == nullptr) {
                      return Ask()
                          .elicit("name", "Who?", {{"type", "object"}, {"properties", boost::json::object()}})
                          .remember("kept");
                    }
                    return ToolResult::text(std::string(context.state()) + ":" +
                                            std::string(answer->at("content").at("name").as_string()));
                  })
        .value();
    port = server.listen().value();
  }

  Server server;
  std::uint16_t port = 0;
};

// PRO-10
TEST_F(ModernQuestions, AsksByAResultAndGoesOnWithTheAnswer) {
  RawClient client(port);
  const auto asked = modern_call(client, "ask", "", R"({"elicitation":{}})").json().at("result");
  EXPECT_EQ(asked.at("resultType"), "input_required");
  EXPECT_EQ(asked.at("inputRequests").at("name").at("method"), "elicitation/create");
  const std::string state(asked.at("requestState").as_string());
  EXPECT_EQ(state.find("kept"), std::string::npos);

  const auto retry = [&](std::string_view request_state, std::string_view more = {}) {
    return modern_call(
        client, "ask",
        fmt::format(
            R"(,"requestState":"{}","inputResponses":{{"name":{{"action":"accept","content":{{"name":"Ada"}}}}}}{})",
            request_state, more),
        R"({"elicitation":{}})");
  };
  EXPECT_EQ(text_of(retry(state).json()), "kept:Ada");
  EXPECT_EQ(code_of(retry(state, R"(,"arguments":{"other":1})").json()), -32602);
  EXPECT_EQ(code_of(retry(state.substr(0, state.size() - 1)).json()), -32602);
  EXPECT_EQ(code_of(retry(state + "AAAA").json()), -32602);
  std::string changed = state;
  changed[changed.size() / 2] = changed[changed.size() / 2] == 'A' ? 'B' : 'A';
  EXPECT_EQ(code_of(retry(changed).json()), -32602);
}

// PRO-10: long arguments are bound to the state, too.
TEST_F(ModernQuestions, BindsLongArgumentsToTheAnswer) {
  RawClient client(port);
  const auto call = [&](char last, std::string_view more) {
    const std::string arguments =
        fmt::format(R"(,"arguments":{{"text":"{}{}"}}{})", std::string(70'000, 'x'), last, more);
    return modern_call(client, "ask", arguments, R"({"elicitation":{}})").json();
  };
  const std::string state(call('a', "").at("result").at("requestState").as_string());
  const std::string answer = fmt::format(
      R"(,"requestState":"{}","inputResponses":{{"name":{{"action":"accept","content":{{"name":"Ada"}}}}}})", state);
  EXPECT_EQ(text_of(call('a', answer)), "kept:Ada");
  EXPECT_EQ(code_of(call('b', answer)), -32602);
}

// PRO-03
TEST_F(ModernQuestions, DoesNotAskAClientThatDeclaredNothing) {
  RawClient client(port);
  const auto answer = modern_call(client, "ask");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(code_of(answer.json()), -32021);
  EXPECT_TRUE(answer.json().at("error").at("data").at("requiredCapabilities").at("elicitation").is_object());
}

TEST_F(ModernQuestions, RefusesToAskForNothing) {
  server.add_tool({.name = "vague"}, [](Context&) -> Outcome<ToolResult> { return Ask(); }).value();
  RawClient client(port);
  EXPECT_EQ(code_of(modern_call(client, "vague").json()), -32603);
}

}  // namespace
}  // namespace proteus::server
