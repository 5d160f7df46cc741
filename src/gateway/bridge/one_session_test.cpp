// The sessions of a legacy upstream that carry the requests of modern callers.
#include <map>
#include <mutex>

#include <gmock/gmock.h>

#include "gateway/testing/bridge_fixture.hpp"
#include "net/testing/http_test_server.hpp"
#include "server/http/http_answer.hpp"

namespace proteus::gateway {
namespace {

using namespace test;
using server::text_of;
using ::testing::Each;
using ::testing::ElementsAre;

enum class Ids { given, none };

// A legacy upstream that counts the calls of each session. Without ids it cannot tell sessions apart.
class CountingUpstream {
 public:
  explicit CountingUpstream(Ids ids = Ids::given)
      : ids_(ids), server_([this](net::Exchange& exchange) { return handle(exchange); }) {}

  std::uint16_t port() const { return server_.port(); }
  std::size_t sessions() {
    const std::scoped_lock lock(mutex_);
    return calls_.size();
  }
  int begun() {
    const std::scoped_lock lock(mutex_);
    return begun_;
  }

 private:
  Task<> handle(net::Exchange& exchange) {
    const std::string id(exchange.request().fields().find("Mcp-Session-Id").value_or(""));
    if (exchange.request().method() == "GET")
      co_return co_await server::reply(exchange, server::HttpAnswer::empty(405));
    if (exchange.request().method() == "DELETE") {
      {
        const std::scoped_lock lock(mutex_);
        calls_.erase(id);
      }
      co_return co_await server::reply(exchange, server::HttpAnswer::empty(200));
    }
    const auto message = boost::json::parse(exchange.request().body()).as_object();
    const std::string method(message.at("method").as_string());
    if (method == "server/discover") co_return co_await server::reply(exchange, server::HttpAnswer::empty(400));
    if (!message.contains("id")) co_return co_await server::reply(exchange, server::HttpAnswer::empty(202));
    std::string fields;
    std::string result;
    {
      const std::scoped_lock lock(mutex_);
      result = answer(method, id, fields);
    }
    co_await server::reply(exchange,
                           server::HttpAnswer::json(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})",
                                                                boost::json::serialize(message.at("id")), result),
                                                    fields));
  }

  std::string answer(std::string_view method, const std::string& id, std::string& fields) {
    if (method == "initialize") {
      const std::string made = ids_ == Ids::given ? fmt::format("session-{}", ++begun_) : "";
      if (ids_ == Ids::given) {
        calls_[made] = 0;
        fields = fmt::format("Mcp-Session-Id: {}\r\n", made);
      }
      return R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"c","version":"1"}})";
    }
    if (method == "tools/list") return R"({"tools":[{"name":"count","inputSchema":{"type":"object"}}]})";
    if (method == "tools/call") return fmt::format(R"({{"content":[{{"type":"text","text":"{}"}}]}})", ++calls_[id]);
    return "{}";
  }

  const Ids ids_;
  std::mutex mutex_;
  int begun_ = 0;
  std::map<std::string, int> calls_;
  net::TestServer server_;
};

struct Counted {
  explicit Counted(CountingUpstream& upstream,
                   providers::AnonymousSessions anonymous = providers::AnonymousSessions::per_call,
                   std::vector<PrincipalSettings> principals = {})
      : gateway({settings(upstream, anonymous)}, with(std::move(principals))) {
    gateway.discover();
  }
  static providers::UpstreamSettings settings(CountingUpstream& upstream, providers::AnonymousSessions anonymous) {
    auto settings = upstream_at("counter", upstream.port());
    settings.prefix = "";
    settings.anonymous_sessions = anonymous;
    return settings;
  }
  static TestGateway::Setup with(std::vector<PrincipalSettings> principals) {
    TestGateway::Setup setup;
    setup.workers = 4;
    setup.principals = std::move(principals);
    return setup;
  }
  // Calls the tool over a new connection each time, and returns the counts.
  std::vector<std::string> calls(int times, std::string_view fields = {}) {
    std::vector<std::string> counted;
    for (int i = 0; i < times; ++i)
      counted.push_back(text_of(gateway.call("count", "{}", fields)));
    return counted;
  }

  TestGateway gateway;
};

std::vector<PrincipalSettings> ada_and_bob() {
  return {{.name = "ada", .token = Secret("ada-token")}, {.name = "bob", .token = Secret("bob-token")}};
}

// BRG-11
TEST(AModernCaller, HasOneSessionOnWhicheverWorkerItAsks) {
  CountingUpstream upstream;
  Counted counted(upstream, {}, ada_and_bob());
  EXPECT_THAT(counted.calls(12, bearer("ada-token")),
              ElementsAre("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"));
}

// BRG-11
TEST(AModernCaller, SharesItsSessionWithNobody) {
  CountingUpstream upstream;
  Counted counted(upstream, {}, ada_and_bob());
  EXPECT_THAT(counted.calls(3, bearer("ada-token")), ElementsAre("1", "2", "3"));
  EXPECT_THAT(counted.calls(2, bearer("bob-token")), ElementsAre("1", "2"));
  EXPECT_THAT(counted.calls(1, bearer("ada-token")), ElementsAre("4"));
}

// BRG-11
TEST(AnAnonymousModernCaller, MeetsNothingThatAnotherCallLeft) {
  CountingUpstream upstream;
  Counted counted(upstream);
  EXPECT_THAT(counted.calls(12), Each("1"));
}

// BRG-11: used sessions end, and only a few are prepared for the next calls.
TEST(AnAnonymousModernCaller, LeavesNoSessionsBehind) {
  CountingUpstream upstream;
  Counted counted(upstream);
  EXPECT_THAT(counted.calls(20), Each("1"));
  constexpr std::size_t kOwn = 1;       // the gateway's own session
  constexpr std::size_t kPrepared = 4;  // one for each worker
  wait_until([&] { return upstream.sessions() <= kOwn + kPrepared; });
  wait_until([&] {
    counted.gateway.gateway.drop_unused_since(std::chrono::steady_clock::now() + 1h);
    return upstream.sessions() <= kOwn;
  });
}

// BRG-11
TEST(AnonymousModernCallers, ShareOneSessionWhereThatIsConfigured) {
  CountingUpstream upstream;
  Counted counted(upstream, providers::AnonymousSessions::shared);
  EXPECT_THAT(counted.calls(6), ElementsAre("1", "2", "3", "4", "5", "6"));
}

// BRG-11: a server without session ids keeps no state for sessions, so calls need no sessions of their own.
TEST(AnonymousModernCallers, ShareWhatHoldsNoState) {
  CountingUpstream upstream(Ids::none);
  Counted counted(upstream);
  EXPECT_THAT(counted.calls(6), ElementsAre("1", "2", "3", "4", "5", "6"));
}

}  // namespace
}  // namespace proteus::gateway
