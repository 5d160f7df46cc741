#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "mcp/notifications.hpp"
#include "net/testing/http_test_server.hpp"
#include "server/core/outbox.hpp"
#include "server/http/http_answer.hpp"

// For tests: a legacy upstream whose sessions differ.
namespace proteus::gateway::test {

enum class Speaks { legacy, both };

// Has a resource test://shared. Its tool `make` adds a resource test://own to the calling session and notifies that
// session. Its tool `touch` notifies the session of updates of the resources that it subscribed to. The modern side
// lists the same except test://own, and declares subscriptions but never sends an update.
class SessionUpstream {
 public:
  explicit SessionUpstream(Speaks speaks = Speaks::legacy)
      : speaks_(speaks), server_([this](net::Exchange& exchange) { return handle(exchange); }) {}

  std::uint16_t port() const { return server_.port(); }
  // Returns the number of streams that were opened by GET.
  std::size_t streams() {
    const std::scoped_lock lock(mutex_);
    return streams_.size();
  }
  // Does the same as `make` in all sessions, without notifying.
  void make_in_all() {
    const std::scoped_lock lock(mutex_);
    for (auto& [id, session] : sessions_)
      session.has_own = true;
  }
  std::size_t sessions() {
    const std::scoped_lock lock(mutex_);
    return sessions_.size();
  }

 private:
  static constexpr std::string_view kTools =
      R"([{"name":"make","inputSchema":{"type":"object"}},{"name":"touch","inputSchema":{"type":"object"}}])";

  struct Session {
    bool has_own = false;
    std::set<std::string> subscribed;
  };

  Task<> handle(net::Exchange& exchange) {
    const std::string id(exchange.request().fields().find("Mcp-Session-Id").value_or(""));
    if (exchange.request().method() == "GET") co_return co_await stream(exchange, id);
    if (exchange.request().method() == "DELETE") {
      {
        const std::scoped_lock lock(mutex_);
        sessions_.erase(id);
      }
      co_return co_await server::reply(exchange, server::HttpAnswer::empty(200));
    }
    const auto message = boost::json::parse(exchange.request().body()).as_object();
    const std::string method(message.at("method").as_string());
    if (method == "server/discover" && speaks_ == Speaks::legacy)
      co_return co_await server::reply(exchange, server::HttpAnswer::empty(400));
    if (!message.contains("id")) co_return co_await server::reply(exchange, server::HttpAnswer::empty(202));
    std::string fields;
    std::string result;
    {
      const std::scoped_lock lock(mutex_);
      const bool modern = id.empty() && method != "initialize";
      result = modern ? modern_answer(method) : answer(method, message, id, fields);
    }
    if (result.empty()) co_return co_await server::reply(exchange, server::HttpAnswer::empty(404));
    const std::string body =
        fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", boost::json::serialize(message.at("id")), result);
    co_await server::reply(exchange, server::HttpAnswer::json(body, fields));
  }

  std::string modern_answer(std::string_view method) {
    if (method == "server/discover") {
      return R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{"subscribe":true}}})";
    }
    if (method == "tools/list") {
      return fmt::format(R"({{"resultType":"complete","tools":{}}})", kTools);
    }
    if (method == "resources/list")
      return R"({"resultType":"complete","resources":[{"uri":"test://shared","name":"shared"}]})";
    if (method == "resources/templates/list") return R"({"resultType":"complete","resourceTemplates":[]})";
    return {};
  }

  std::string answer(std::string_view method, const boost::json::object& message, const std::string& id,
                     std::string& fields) {
    if (method == "initialize") {
      const std::string made = fmt::format("session-{}", ++last_);
      sessions_[made];
      fields = fmt::format("Mcp-Session-Id: {}\r\n", made);
      return R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{"subscribe":true,"listChanged":true}},"serverInfo":{"name":"s","version":"1"}})";
    }
    Session& session = sessions_[id];
    if (method == "tools/list") return fmt::format(R"({{"tools":{}}})", kTools);
    if (method == "resources/list") {
      return fmt::format(R"({{"resources":[{{"uri":"test://shared","name":"shared"}}{}]}})",
                         session.has_own ? R"(,{"uri":"test://own","name":"own"})" : "");
    }
    if (method == "resources/templates/list") return R"({"resourceTemplates":[]})";
    if (method == "resources/read") return R"({"contents":[{"uri":"test://x","text":"read"}]})";
    const auto& params = message.at("params").as_object();
    if (method == "resources/subscribe") session.subscribed.emplace(params.at("uri").as_string());
    if (method == "resources/unsubscribe") session.subscribed.erase(std::string(params.at("uri").as_string()));
    if (method == "tools/call" && params.at("name") == "make") {
      session.has_own = true;
      tell(id, mcp::list_changed_notification(mcp::Method::resources_changed, {}));
    }
    if (method == "tools/call" && params.at("name") == "touch") {
      for (const auto& uri : session.subscribed)
        tell(id, mcp::resource_updated_notification(uri, {}));
    }
    return method == "tools/call" ? R"({"content":[]})" : "{}";
  }

  void tell(const std::string& session, const std::string& message) {
    if (const auto found = streams_.find(session); found != streams_.end())
      found->second->push(server::sse_frame(message));
  }

  Task<> stream(net::Exchange& exchange, std::string session) {
    const auto outbox = std::make_shared<server::Outbox>(exchange.executor());
    {
      const std::scoped_lock lock(mutex_);
      streams_.insert_or_assign(session, outbox);
    }
    exchange.on_disconnect([outbox] { outbox->close(); });
    co_await server::stream_events(exchange, outbox, std::chrono::hours(1));
    const std::scoped_lock lock(mutex_);
    if (const auto found = streams_.find(session); found != streams_.end() && found->second == outbox)
      streams_.erase(found);
  }

  const Speaks speaks_;
  std::mutex mutex_;
  int last_ = 0;
  std::map<std::string, Session> sessions_;
  std::map<std::string, std::shared_ptr<server::Outbox>> streams_;
  net::TestServer server_;
};

}  // namespace proteus::gateway::test
