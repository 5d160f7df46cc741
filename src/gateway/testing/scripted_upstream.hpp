#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "net/testing/http_test_server.hpp"

// For tests: an upstream that follows a script, valid or not. It offers no stream by GET.
namespace proteus::gateway::test {

struct Reaction {
  enum class Kind : std::uint8_t { result, error, body, drop, hang };
  // If set, the answer waits until this is true. Must outlive the upstream.
  const std::atomic<bool>* gate = nullptr;

  // NOLINTNEXTLINE(google-explicit-constructor): most reactions are results
  Reaction(std::string result) : text(std::move(result)) {}
  Reaction(Kind what, std::string bytes) : kind(what), text(std::move(bytes)) {}

  // A whole body, valid or not.
  static Reaction body(std::string bytes) { return {Kind::body, std::move(bytes)}; }
  // Events, sent as they are.
  static Reaction events(std::string bytes) {
    Reaction reaction = body(std::move(bytes));
    reaction.type = "text/event-stream";
    return reaction;
  }
  // Closes the connection once the request has arrived.
  static Reaction drop() { return {Kind::drop, {}}; }
  // Never answers.
  static Reaction hang() { return {Kind::hang, {}}; }

  // A JSON-RPC error, given as an object.
  static Reaction error(std::string object, unsigned status = 200) {
    Reaction reaction(Kind::error, std::move(object));
    reaction.status = status;
    return reaction;
  }
  // An HTTP status with a body and additional header lines, each ending with CRLF.
  static Reaction refuse(unsigned status, std::string bytes = {}, std::string lines = {}) {
    Reaction reaction = body(std::move(bytes));
    reaction.status = status;
    reaction.lines = std::move(lines);
    return reaction;
  }

  Kind kind = Kind::result;
  std::chrono::milliseconds takes{0};
  unsigned status = 200;
  std::string lines = {};
  std::string text;
  std::string_view type = "application/json";
};

// Answers each MCP request with what `answer` returns for it, and records the requests. Answers `server/discover`
// itself, unless the script does.
class ScriptedUpstream {
 public:
  using Answer = std::function<Reaction(const boost::json::object& message)>;
  enum class Discover : std::uint8_t { answered, scripted };

  explicit ScriptedUpstream(Answer answer, Discover discover = Discover::answered)
      : answer_(std::move(answer)),
        discover_(discover),
        server_([this](net::Exchange& exchange) { return handle(exchange); }) {}

  std::uint16_t port() const { return server_.port(); }
  std::vector<boost::json::object> received(std::string_view method) {
    const std::scoped_lock lock(mutex_);
    std::vector<boost::json::object> found;
    for (const auto& message : received_) {
      if (message.at("method").as_string() == method) found.push_back(message);
    }
    return found;
  }
  std::vector<std::string> authorizations() {
    const std::scoped_lock lock(mutex_);
    return authorizations_;
  }
  // Returns the values of a header, from all requests that had it; if `method` is given, from its requests only.
  std::vector<std::string> headers(std::string_view name, std::string_view method = {}) {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> found;
    for (const auto& header : headers_) {
      const bool counts = method.empty() || header.method == method;
      if (counts && net::same_field_name(header.name, name)) found.push_back(header.value);
    }
    return found;
  }

 private:
  struct Header {
    std::string method;  // of the MCP request
    std::string name;
    std::string value;
  };

  Task<> handle(net::Exchange& exchange) {
    if (exchange.request().method() != "POST") {
      co_await exchange.reply({.status = 405});
      co_return;
    }
    const auto message = boost::json::parse(exchange.request().body()).as_object();
    // The gateway also checks whether a modern upstream supports the legacy era. This one does not.
    if (discover_ == Discover::answered && message.at("method") == "initialize") {
      co_return co_await reply(exchange, message, Reaction::refuse(400, ""));
    }
    {
      const std::scoped_lock lock(mutex_);
      received_.push_back(message);
      authorizations_.emplace_back(exchange.request().fields().find("Authorization").value_or(""));
      const auto* const method = message.if_contains("method");
      const std::string of(method != nullptr ? std::string_view(method->as_string()) : std::string_view());
      for (const auto& field : exchange.request().fields())
        headers_.push_back({of, std::string(field.name), std::string(field.value)});
    }
    if (discover_ == Discover::answered && message.at("method") == "server/discover") {
      co_return co_await reply(
          exchange, message,
          Reaction(
              R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"prompts":{},"resources":{}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}})"));
    }
    if (!message.contains("id")) {
      co_await exchange.reply({.status = 202});
      co_return;
    }
    co_await reply(exchange, message, answer_(message));
  }

  static Task<> reply(net::Exchange& exchange, boost::json::object message, Reaction reaction) {
    boost::asio::steady_timer pause(exchange.executor());
    while (reaction.gate != nullptr && !*reaction.gate) {
      pause.expires_after(std::chrono::milliseconds(1));
      co_await pause.async_wait(boost::asio::use_awaitable);
    }
    if (reaction.takes.count() > 0) {
      pause.expires_after(reaction.takes);
      co_await pause.async_wait(boost::asio::use_awaitable);
    }
    switch (reaction.kind) {
      case Reaction::Kind::drop: exchange.close(); co_return;
      case Reaction::Kind::hang: {
        boost::asio::steady_timer never(exchange.executor(), std::chrono::hours(1));
        exchange.on_disconnect([&never] { never.cancel(); });
        boost::system::error_code ignored;
        co_await never.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
        exchange.close();
        co_return;
      }
      case Reaction::Kind::result:
      case Reaction::Kind::error:
        reaction.text = fmt::format(R"({{"jsonrpc":"2.0","id":{},"{}":{}}})", boost::json::serialize(message.at("id")),
                                    reaction.kind == Reaction::Kind::error ? "error" : "result", reaction.text);
        break;
      case Reaction::Kind::body: break;
    }
    co_await exchange.reply({.status = reaction.status, .content_type = reaction.type, .prepared = reaction.lines},
                            reaction.text);
  }

  Answer answer_;
  Discover discover_;
  std::mutex mutex_;
  std::vector<boost::json::object> received_;
  std::vector<std::string> authorizations_;
  std::vector<Header> headers_;
  net::TestServer server_;
};

// Results of lists.
inline std::string one_tool(std::string_view name) {
  return fmt::format(
      R"({{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{{"name":"{}","inputSchema":{{"type":"object"}},"x-unknown":{{"kept":1.50}}}}]}})",
      name);
}
inline std::string empty_list(std::string_view member) {
  return fmt::format(R"({{"resultType":"complete","ttlMs":0,"cacheScope":"private","{}":[]}})", member);
}
// Returns the lists of an upstream with one tool, one prompt and one resource; nothing for other requests.
inline std::optional<std::string> small_lists(const boost::json::object& message, std::string_view tool = "tool") {
  const auto& method = message.at("method").as_string();
  if (method == "tools/list") return one_tool(tool);
  if (method == "prompts/list") {
    return R"({"resultType":"complete","ttlMs":0,"cacheScope":"private","prompts":[{"name":"prompt"}]})";
  }
  if (method == "resources/list") {
    return R"({"resultType":"complete","ttlMs":0,"cacheScope":"private","resources":[{"uri":"test://r","name":"r"}]})";
  }
  if (method == "resources/templates/list") return empty_list("resourceTemplates");
  return std::nullopt;
}

}  // namespace proteus::gateway::test
