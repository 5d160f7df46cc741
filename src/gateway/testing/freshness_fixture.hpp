#pragma once

#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <proteus/client.hpp>

#include "client/testing/fake_server.hpp"
#include "gateway/testing/test_gateway.hpp"

// For tests: a server whose lists change, and two that keep its lists: the client library and the gateway.
namespace proteus::gateway::test {

using client::test::FakeMcp;
using client::test::FakeRequest;
using client::test::FakeResponse;

// A server of one era whose tools, streams and health the test controls. It has a thread. Thread-safe.
class Shop {
 public:
  explicit Shop(mcp::Era era) : mcp_(era == mcp::Era::modern ? FakeMcp::modern() : FakeMcp::legacy()) {
    mcp_.on["tools/list"] = [this](const FakeRequest& request) { return list(request); };
    mcp_.on["resources/list"] = [](const FakeRequest& request) {
      return client::test::result(request, R"({"resources":[{"uri":"test://till","name":"till"}]})");
    };
    for (const std::string_view hello : {"server/discover", "initialize"}) {
      if (!mcp_.on.contains(std::string(hello))) continue;
      mcp_.on[std::string(hello)] = [greet = mcp_.on[std::string(hello)]](const FakeRequest& request) {
        FakeResponse response = greet(request);
        auto body = boost::json::parse(response.body);
        body.at("result").at("capabilities").as_object().emplace("resources", boost::json::object());
        response.body = boost::json::serialize(body);
        return response;
      };
    }
    mcp_.on["tools/call"] = [this](const FakeRequest& request) { return call(request); };
    mcp_.on["subscriptions/listen"] = [this](const FakeRequest& request) { return listen(request); };
    mcp_.get = [this](const FakeRequest& request) { return listen(request); };
    thread_ = std::thread([this] { io_.run(); });
  }
  ~Shop() {
    io_.stop();
    thread_.join();
  }
  Shop(const Shop&) = delete;
  Shop& operator=(const Shop&) = delete;

  const net::Url& url() const { return url_; }

  void sell(std::vector<std::string> tools) {
    on_its_thread([&] { tools_ = std::move(tools); });
  }
  // Answers every POST with 503 while closed.
  void close(bool closed = true) {
    on_its_thread([&] { closed_ = closed; });
  }
  void fail_calls(bool fail = true) {
    on_its_thread([&] { fails_calls_ = fail; });
  }
  // From now on, results of calls say that lists have changed.
  void signal() {
    on_its_thread([&] { signals_ = true; });
  }
  // Sets the answer to a method.
  void react(std::string method, FakeMcp::Method how) {
    on_its_thread([&] { mcp_.on[std::move(method)] = std::move(how); });
  }
  // Whether clients may open streams.
  void allow_streams(bool allow) {
    on_its_thread([&] { allows_streams_ = allow; });
  }
  void drop_streams() {
    on_its_thread([this] {
      for (const auto& stream : streams_)
        stream.feed->cut();
      streams_.clear();
    });
  }
  void announce() {
    on_its_thread([this] {
      for (const auto& stream : streams_)
        stream.feed->event(stream.announcement);
    });
  }
  std::size_t streams() {
    return on_its_thread([this] { return streams_.size(); });
  }
  std::size_t lists() {
    return on_its_thread([this] { return server_.count("tools/list"); });
  }
  std::size_t calls() {
    return on_its_thread([this] { return server_.count("tools/call"); });
  }

 private:
  struct Stream {
    std::shared_ptr<client::test::Feed> feed;
    std::string announcement;
  };

  template <class F>
  std::invoke_result_t<F&> on_its_thread(F function) {
    return boost::asio::post(io_, boost::asio::use_future(std::move(function))).get();
  }

  FakeResponse answer(const FakeRequest& request) {
    if (closed_ && request.method == "POST") return {.status = 503, .body = "closed"};
    return mcp_(request);
  }
  FakeResponse list(const FakeRequest& request) const {
    std::string tools;
    for (const auto& name : tools_) {
      tools += fmt::format(R"({}{{"name":"{}","inputSchema":{{"type":"object"}}}})", tools.empty() ? "" : ",", name);
    }
    return client::test::result(
        request, fmt::format(R"({{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{}]}})", tools));
  }
  FakeResponse call(const FakeRequest& request) const {
    if (fails_calls_) return {.status = 504, .body = "too late"};
    return client::test::result(
        request,
        fmt::format(R"({{"resultType":"complete","content":[],"_meta":{{"refresh_capabilities":{}}}}})", signals_));
  }
  FakeResponse listen(const FakeRequest& request) {
    if (!allows_streams_) return {.status = 503, .body = "not now"};
    const auto feed = server_.feed();
    std::string tag;
    if (mcp_.is_modern) {
      tag = fmt::format(R"("_meta":{{"io.modelcontextprotocol/subscriptionId":{}}})", request.id());
      feed->event(fmt::format(
          R"({{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"notifications":{{"toolsListChanged":true}},{}}}}})",
          tag));
    }
    streams_.push_back(
        {feed, fmt::format(R"({{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{{}}}}})", tag)});
    return {.type = "text/event-stream", .feed = feed};
  }

  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{io_.get_executor()};
  FakeMcp mcp_;
  std::vector<std::string> tools_ = {"bread"};
  std::vector<Stream> streams_;
  bool closed_ = false;
  bool fails_calls_ = false;
  bool signals_ = false;
  bool allows_streams_ = true;
  client::test::FakeServer server_{io_, [this](const FakeRequest& request) { return answer(request); }};
  const net::Url url_ = server_.url();
  std::thread thread_;
};

struct Changed {
  std::vector<std::string> added;
  std::vector<std::string> removed;
};

// Something that keeps the lists of one server.
class Keeper {
 public:
  virtual ~Keeper() = default;
  virtual std::vector<std::string> tools() = 0;
  // Returns nothing if the lists are unknown.
  virtual std::optional<std::vector<std::string>> resources() = 0;
  virtual bool call(const std::string& tool) = 0;
  virtual Result<Changed> refresh() = 0;
  virtual client::ServerState state() = 0;
  virtual std::string last_error() = 0;
  virtual client::Circuit circuit() = 0;
};

class LibraryKeeper final : public Keeper {
 public:
  explicit LibraryKeeper(const providers::UpstreamSettings& settings)
      : server_(client::McpServer::builder(settings.url)
                    .timeout(settings.timeout)
                    .call_timeout(settings.call_timeout)
                    .connect_timeout(settings.connect_timeout)
                    .fail_fast_on_startup(settings.fail_fast_on_startup)
                    .auto_refresh(settings.auto_refresh)
                    .refresh_interval(settings.refresh_interval)
                    .event_driven_refresh(settings.event_driven_refresh)
                    .ttl(settings.ttl)
                    .health_interval(settings.health_interval)
                    .max_consecutive_failures(settings.max_consecutive_failures)
                    .circuit_failures(settings.circuit_failures)
                    .circuit_open(settings.circuit_open)
                    .build()) {
    server_.open().value();
  }

  std::vector<std::string> tools() override {
    std::vector<std::string> names;
    const auto listed = server_.tools();
    if (!listed) return names;
    for (const auto& tool : *listed)
      names.push_back(tool.name);
    return names;
  }
  std::optional<std::vector<std::string>> resources() override {
    const auto listed = server_.resources();
    if (!listed) return std::nullopt;
    std::vector<std::string> uris;
    for (const auto& resource : *listed)
      uris.push_back(resource.uri);
    return uris;
  }
  bool call(const std::string& tool) override { return server_.call_tool(tool).has_value(); }
  Result<Changed> refresh() override {
    const auto result = server_.refresh_now();
    if (result.error) return std::unexpected(*result.error);
    if (result.changes.empty()) return Changed{};
    return Changed{result.changes.front().added, result.changes.front().removed};
  }
  client::ServerState state() override { return server_.state(); }
  std::string last_error() override {
    const auto error = server_.last_error();
    return error ? error->message() : "";
  }
  client::Circuit circuit() override { return server_.circuit(); }

 private:
  client::McpServer server_;
};

class GatewayKeeper final : public Keeper {
 public:
  explicit GatewayKeeper(const providers::UpstreamSettings& settings) : gateway_({settings}) { gateway_.discover(); }

  std::vector<std::string> tools() override { return gateway_.tools(); }
  std::optional<std::vector<std::string>> resources() override {
    std::vector<std::string> uris;
    for (const auto& resource : gateway_.ask("resources/list").at("result").at("resources").as_array())
      uris.emplace_back(resource.at("uri").as_string());
    return uris;
  }
  bool call(const std::string& tool) override { return gateway_.call(tool).as_object().contains("result"); }
  Result<Changed> refresh() override {
    const auto result = gateway_.refresh("shop");
    if (result.error) return std::unexpected(*result.error);
    const auto& tools = result.change.kinds[catalog::Kind::tool];
    return Changed{tools.added, tools.removed};
  }
  client::ServerState state() override { return gateway_.status("shop").state; }
  std::string last_error() override { return gateway_.status("shop").last_error; }
  client::Circuit circuit() override { return gateway_.upstream("shop")->breaker().state(); }

 private:
  TestGateway gateway_;
};

}  // namespace proteus::gateway::test
