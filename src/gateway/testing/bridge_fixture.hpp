#pragma once

#include <atomic>
#include <string>

#include <proteus/server.hpp>

#include "gateway/testing/test_gateway.hpp"

// For tests: servers of one era that ask for input, and modern clients that can be asked.
namespace proteus::gateway::test {

inline server::ServerOptions legacy_only() { return {.legacy = true, .modern = false}; }
inline server::ServerOptions modern_only() { return {.legacy = false, .modern = true}; }
inline constexpr std::string_view kEverything = R"({"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}})";
inline constexpr std::string_view kAda = R"({"action":"accept","content":{"name":"Ada"}})";

inline boost::json::object name_form() {
  return {{"type", "object"}, {"properties", {{"name", {{"type", "string"}}}}}, {"required", {"name"}}};
}

// A server whose tools ask the user.
class AskingUpstream {
 public:
  explicit AskingUpstream(server::ServerOptions options) : server({.name = "asking", .version = "1"}, options) {
    add("greet", [this](server::Context& context) -> server::Outcome<server::ToolResult> {
      const auto* name = context.answer("name");
      if (name == nullptr) return server::Ask().elicit("name", "Your name?", name_form());
      ++runs;
      return server::ToolResult::text("Hello, " + said(*name));
    });
    add("two_rounds", [this](server::Context& context) -> server::Outcome<server::ToolResult> {
      const auto* first = context.answer("first");
      if (first == nullptr) return server::Ask().elicit("first", "First?", name_form());
      const auto* second = context.answer("second");
      if (second == nullptr) return server::Ask().elicit("second", "Second?", name_form());
      ++runs;
      return server::ToolResult::text(said(*first) + " and " + said(*second));
    });
    add("both", [this](server::Context& context) -> server::Outcome<server::ToolResult> {
      const auto* first = context.answer("first");
      const auto* roots = context.answer("roots");
      if (first == nullptr || roots == nullptr) {
        server::Ask ask;
        if (first == nullptr) ask.elicit("first", "First?", name_form());
        if (roots == nullptr) ask.roots("roots");
        return ask;
      }
      ++runs;
      return server::ToolResult::text(said(*first) + " has " + boost::json::serialize(roots->at("roots")));
    });
    server
        .add_prompt({.name = "letter"},
                    [](server::Context& context) -> server::Outcome<server::PromptResult> {
                      const auto* name = context.answer("name");
                      if (name == nullptr) return server::Ask().elicit("name", "To whom?", name_form());
                      server::PromptResult result;
                      result.messages.push_back(
                          {server::PromptMessage::Role::user, server::Content::text("Dear " + said(*name))});
                      return result;
                    })
        .value();
    server
        .add_resource({.uri = "test://secret", .name = "secret"},
                      [](server::Context& context) -> server::Outcome<server::ResourceResult> {
                        const auto* name = context.answer("name");
                        if (name == nullptr) return server::Ask().elicit("name", "Who reads?", name_form());
                        server::ResourceResult result;
                        result.contents.push_back({.text = "for " + said(*name)});
                        return result;
                      })
        .value();
    port = server.listen().value();
  }

  void add(std::string name, server::ToolHandler handler) {
    server.add_tool({.name = std::move(name), .description = "Asks"}, std::move(handler)).value();
  }

  static std::string said(const boost::json::object& answer) {
    const auto* content = answer.if_contains("content");
    if (content == nullptr) return std::string(answer.at("action").as_string());
    return std::string(content->at("name").as_string());
  }

  server::Server server;
  std::uint16_t port = 0;
  std::atomic<int> runs = 0;  // handlers that completed
};

// A modern client that can be asked.
class ModernClient {
 public:
  explicit ModernClient(TestGateway& gateway, std::string_view capabilities = kEverything, std::string token = {})
      : gateway_(gateway), capabilities_(capabilities), token_(std::move(token)) {}

  RawClient::Answer send(std::string_view method, std::string_view name, std::string_view members) {
    RawClient client(gateway_.port());
    return client.request("POST", fields(method, name), body(method, members));
  }
  std::string fields(std::string_view method, std::string_view name) const {
    std::string fields = server::modern_fields(method, name);
    if (!token_.empty()) fields += fmt::format("Authorization: Bearer {}\r\n", token_);
    return fields;
  }
  std::string body(std::string_view method, std::string_view members) const {
    return server::rpc("1", method, fmt::format("{},{}", members, server::modern_meta(capabilities_)));
  }

  boost::json::value call(std::string_view tool, std::string_view more = {}) {
    return send("tools/call", tool, fmt::format(R"("name":"{}","arguments":{{}}{})", tool, more)).json();
  }
  // Retries the call with answers.
  boost::json::value again(std::string_view tool, const boost::json::value& asked, std::string_view answers) {
    return call(tool, with_answers(asked, answers));
  }
  static std::string with_answers(const boost::json::value& asked, std::string_view answers) {
    return fmt::format(R"(,"requestState":{},"inputResponses":{})",
                       boost::json::serialize(asked.at("result").at("requestState")), answers);
  }

 private:
  TestGateway& gateway_;
  std::string_view capabilities_;
  std::string token_;
};

inline bool asks(const boost::json::value& message) {
  const auto* result = message.as_object().if_contains("result");
  return result != nullptr && result->at("resultType") == "input_required";
}

}  // namespace proteus::gateway::test
