// Tests of how the public client keeps its lists fresh.
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <proteus/client.hpp>

#include "client/testing/fake_server.hpp"

namespace proteus::client {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A modern server on a thread of its own. The test decides its tools and whether it answers.
class Shop {
 public:
  explicit Shop(std::string tools) : tools_(std::move(tools)), thread_([this] { io_.run(); }) {}
  ~Shop() {
    io_.stop();
    thread_.join();
  }
  Shop(const Shop&) = delete;
  Shop& operator=(const Shop&) = delete;

  const std::string& url() const { return url_; }
  void sell(std::string tools) {
    const std::scoped_lock lock(mutex_);
    tools_ = std::move(tools);
  }
  // Replaces the server by one that also has a prompt.
  void redeploy() {
    const std::scoped_lock lock(mutex_);
    description_ = R"("capabilities":{"tools":{},"prompts":{}},"instructions":"Ask for the menu.")";
  }
  void close() { status_ = 503; }
  void break_down() { status_ = 504; }
  void reopen() { status_ = 200; }
  // Waits until the tools were listed that often in all.
  bool listed(int times) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 30s, [&] { return lists_ >= times; });
  }
  int lists() {
    const std::scoped_lock lock(mutex_);
    return lists_;
  }

 private:
  test::FakeResponse answer(const test::FakeRequest& request) {
    if (status_ != 200) return {.status = status_, .body = "closed"};
    const std::string rpc = request.rpc();
    std::string result;
    if (rpc == "server/discover") {
      const std::scoped_lock lock(mutex_);
      result = R"({"resultType":"complete","supportedVersions":["2026-07-28"],)" + description_ +
               R"(,"ttlMs":0,"cacheScope":"public",)"
               R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"shop","version":"1"}}})";
    } else if (rpc == "tools/list") {
      const std::scoped_lock lock(mutex_);
      ++lists_;
      changed_.notify_all();
      result = R"({"resultType":"complete","ttlMs":0,"cacheScope":"public","tools":[)" + tools_ + "]}";
    } else if (rpc == "prompts/list") {
      result = R"({"resultType":"complete","ttlMs":0,"cacheScope":"public","prompts":[{"name":"menu"}]})";
    } else {
      result = R"({"resultType":"complete","content":[]})";
    }
    return {.body = fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", request.id(), result)};
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string tools_;
  std::string description_ = R"("capabilities":{"tools":{}})";
  int lists_ = 0;
  std::atomic<int> status_ = 200;
  boost::asio::io_context io_;
  test::FakeServer server_{io_, [this](const test::FakeRequest& request) { return answer(request); }};
  const std::string url_{server_.url().text()};
  std::thread thread_;
};

std::string tool(std::string_view name, std::string_view properties = "{}", std::string_view required = "[]") {
  return fmt::format(R"({{"name":"{}","inputSchema":{{"type":"object","properties":{},"required":{}}}}})", name,
                     properties, required);
}

McpServer::Builder client_of(const Shop& shop) { return McpServer::builder(shop.url()).timeout(10s); }

// REF-08, REF-21
TEST(Refreshing, SaysWhatWasAddedRemovedAndChangedAndWhatBreaks) {
  Shop shop(tool("bread") + "," + tool("milk") + "," + tool("wine"));
  std::mutex mutex;
  std::condition_variable told;
  std::vector<Change> heard;
  auto server = client_of(shop).build();
  server.add_change_listener([&](const Change& change) {
    const std::scoped_lock lock(mutex);
    heard.push_back(change);
    told.notify_all();
  });
  ASSERT_TRUE(server.open());
  EXPECT_TRUE(server.refresh_now().changes.empty());

  shop.sell(tool("bread", R"({"slices":{"type":"integer"}})") + "," +
            tool("wine", R"({"age":{"type":"integer"}})", R"(["age"])") + "," + tool("cheese"));
  const RefreshResult result = server.refresh_now();
  ASSERT_TRUE(result.ok()) << result.error->message();
  ASSERT_EQ(result.changes.size(), 1U);
  const Change& change = result.changes[0];
  EXPECT_EQ(change.server, shop.url());
  EXPECT_EQ(change.kind, Change::Kind::tools);
  EXPECT_THAT(change.added, ElementsAre("cheese"));
  EXPECT_THAT(change.removed, ElementsAre("milk"));
  EXPECT_THAT(change.changed, ElementsAre("bread", "wine"));
  ASSERT_EQ(change.breaking.size(), 1U);
  EXPECT_EQ(change.breaking[0].name, "wine");
  EXPECT_THAT(change.breaking[0].reasons, ::testing::Contains(HasSubstr("age")));
  {
    // Listeners are called on a separate thread, which ends with the client.
    std::unique_lock lock(mutex);
    ASSERT_TRUE(told.wait_for(lock, 30s, [&] { return !heard.empty(); }));
  }
  server.close();
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_THAT(heard[0].added, ElementsAre("cheese"));
}

// REF-09
TEST(Refreshing, TheTimeOfTheLastReadingAdvancesOnSuccessOnly) {
  Shop shop(tool("bread"));
  auto server = client_of(shop).build();
  EXPECT_EQ(server.state(), ServerState::closed);
  EXPECT_FALSE(server.last_refresh_time());
  ASSERT_TRUE(server.open());
  const auto first = server.last_refresh_time();
  ASSERT_TRUE(first);
  shop.close();
  EXPECT_FALSE(server.refresh_now().ok());
  EXPECT_EQ(server.last_refresh_time(), first);
  shop.reopen();
  EXPECT_TRUE(server.refresh_now().ok());
  EXPECT_GT(server.last_refresh_time(), first);
}

// REF-07
TEST(Refreshing, FindsWhatARedeployedServerOffersNow) {
  Shop shop(tool("bread"));
  auto server = client_of(shop).build();
  ASSERT_TRUE(server.open());
  EXPECT_TRUE(server.prompts()->empty());
  shop.redeploy();
  EXPECT_EQ(server.refresh_now().changes.size(), 1U);
  EXPECT_EQ(server.prompts()->size(), 1U);
  EXPECT_EQ(server.info()->instructions, "Ask for the menu.");
}

// REF-07
TEST(Refreshing, NoticesThatAServerWasRedeployed) {
  Shop shop(tool("bread"));
  auto server = client_of(shop).health_interval(10ms).build();
  std::promise<Change> came;
  server.add_change_listener([&](const Change& change) { came.set_value(change); });
  ASSERT_TRUE(server.open());
  shop.redeploy();
  auto change = came.get_future();
  ASSERT_EQ(change.wait_for(30s), std::future_status::ready);
  EXPECT_EQ(change.get().kind, Change::Kind::prompts);
}

// REF-31
TEST(Refreshing, CountsRequestsAndReadings) {
  Shop shop(tool("bread"));
  auto server = client_of(shop).circuit_failures(1).circuit_open(1h).build();
  EXPECT_EQ(server.counters().refreshes, 0U);
  ASSERT_TRUE(server.open());
  ASSERT_TRUE(server.call_tool("bread"));
  shop.break_down();
  ASSERT_FALSE(server.call_tool("bread"));
  const auto refused = server.call_tool("bread");
  EXPECT_EQ(refused.error().kind(), ErrorKind::unreachable) << "it was not sent";
  EXPECT_EQ(server.circuit(), Circuit::open);
  EXPECT_FALSE(server.refresh_now().ok());
  const Counters counters = server.counters();
  EXPECT_EQ(counters.requests, 2U);
  EXPECT_EQ(counters.failed_requests, 1U);
  EXPECT_EQ(counters.refused_requests, 1U);
  EXPECT_EQ(counters.refreshes, 1U);
  EXPECT_GE(counters.failed_refreshes, 1U);
  EXPECT_EQ(counters.announcements, 0U);
}

// REF-05, REF-10
TEST(Refreshing, PollsOnlyWhenToldToAndOnceHoweverOften) {
  Shop shop(tool("bread"));
  auto server = client_of(shop).refresh_interval(10ms).build();
  server.start_auto_refresh();
  EXPECT_FALSE(server.is_auto_refresh_running()) << "before it is open there is nothing to read";
  server.stop_auto_refresh();
  ASSERT_TRUE(server.open());
  EXPECT_FALSE(server.is_auto_refresh_running()) << "off by default";
  EXPECT_EQ(shop.lists(), 1);

  server.start_auto_refresh();
  server.start_auto_refresh();
  EXPECT_TRUE(server.is_auto_refresh_running());
  EXPECT_TRUE(shop.listed(4));
  server.stop_auto_refresh();
  EXPECT_FALSE(server.is_auto_refresh_running());
  // This reading begins after any earlier one has ended, and no automatic one follows.
  EXPECT_TRUE(server.refresh_now().ok());
  const int then = shop.lists();
  EXPECT_TRUE(server.ping());
  EXPECT_TRUE(server.refresh_now().ok());
  EXPECT_EQ(shop.lists(), then + 1);
  server.close();
  EXPECT_FALSE(server.is_auto_refresh_running());

  auto automatic = client_of(shop).auto_refresh(true).refresh_interval(10ms).build();
  ASSERT_TRUE(automatic.open());
  EXPECT_TRUE(automatic.is_auto_refresh_running());
  EXPECT_TRUE(shop.listed(shop.lists() + 3));
}

// REF-02, REF-03
TEST(Refreshing, AServerThatIsNotThereFailsTheStartUnlessToldOtherwise) {
  Shop shop(tool("bread"));
  shop.close();
  EXPECT_FALSE(client_of(shop).build().open());

  std::promise<Change> came;
  auto server = client_of(shop).fail_fast_on_startup(false).build();
  server.add_change_listener([&](const Change& change) { came.set_value(change); });
  ASSERT_TRUE(server.open());
  EXPECT_EQ(server.state(), ServerState::degraded);
  const auto tools = server.tools();
  ASSERT_FALSE(tools) << "an outage is no empty list";
  EXPECT_THAT(tools.error().message(), HasSubstr("503"));
  shop.reopen();
  auto future = came.get_future();
  ASSERT_EQ(future.wait_for(30s), std::future_status::ready);
  EXPECT_THAT(future.get().added, ElementsAre("bread"));
  EXPECT_EQ(server.tools()->size(), 1U);
  EXPECT_EQ(server.state(), ServerState::connected);
}

// REF-23
TEST(Refreshing, RefusesSettingsThatMakeNoSense) {
  const auto refused = [](McpServer::Builder& builder) { return builder.build().open().error().kind(); };
  const auto builder = McpServer::builder("http://127.0.0.1:1/mcp");
  for (const auto interval : {0ms, -1ms}) {
    EXPECT_EQ(refused(auto(builder).refresh_interval(interval)), ErrorKind::invalid);
    EXPECT_EQ(refused(auto(builder).health_interval(interval)), ErrorKind::invalid);
    EXPECT_EQ(refused(auto(builder).circuit_open(interval)), ErrorKind::invalid);
  }
  EXPECT_EQ(refused(auto(builder).ttl(-1ms)), ErrorKind::invalid);
  EXPECT_EQ(refused(auto(builder).circuit_failures(0)), ErrorKind::invalid);
  EXPECT_EQ(refused(auto(builder).list_meta({{"progressToken", 1}})), ErrorKind::invalid);
}

// REF-22
TEST(Descriptor, HoldsTheSettingsWithoutSecretsAndRoundTrips) {
  const auto server = McpServer::builder("https://api.example.com/mcp")
                          .auth(BearerToken::from_env("API_TOKEN"))
                          .header("X-Tenant", "7")
                          .header("X-Api-Key", "hidden-in-a-header")
                          .timeout(12s)
                          .era(Era::modern)
                          .auto_refresh(true)
                          .refresh_interval(90s)
                          .event_driven_refresh(false)
                          .fail_fast_on_startup(false)
                          .ttl(7s)
                          .health_interval(8s)
                          .circuit_failures(9)
                          .circuit_open(10s)
                          .list_meta({{"pin", "hidden-in-meta"}})
                          .build();
  const auto saved = server.descriptor();
  EXPECT_EQ(saved.at("authentication").at("secret_env"), "API_TOKEN");
  EXPECT_EQ(saved.at("headers"), (boost::json::object{{"X-Tenant", "7"}}));
  EXPECT_EQ(saved.at("refresh_interval"), "1m30s");
  EXPECT_EQ(saved.at("ttl"), "7s");
  EXPECT_EQ(saved.at("health_interval"), "8s");
  EXPECT_EQ(saved.at("circuit_failures"), 9);
  EXPECT_EQ(saved.at("circuit_open"), "10s");
  EXPECT_THAT(boost::json::serialize(saved), Not(HasSubstr("hidden")));
  const auto loaded = McpServer::from_descriptor(saved);
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_EQ(loaded->build().descriptor(), saved);
}

// REF-22
TEST(Descriptor, LeavesOutSecretsThatWereGivenThemselves) {
  for (const Auth& auth :
       {BearerToken::of("hidden"), BasicAuth::of("ada", "hidden"), HeaderAuth::of("X-K", "hidden")}) {
    const auto saved = McpServer::builder("http://127.0.0.1:1/mcp").auth(auth).build().descriptor();
    EXPECT_THAT(boost::json::serialize(saved), Not(HasSubstr("hidden")));
    const auto opened = McpServer::from_descriptor(saved)->build().open();
    EXPECT_EQ(opened.error().kind(), ErrorKind::unauthenticated) << "and does not go without them";
  }
  const auto program = McpServer::builder().command({"server", "--x"}).environment({{"KEY", "hidden"}}).build();
  EXPECT_THAT(boost::json::serialize(program.descriptor()), Not(HasSubstr("hidden")));
  EXPECT_EQ(program.descriptor().at("pass_environment").at(0), "KEY");
}

// REF-22, REF-23
TEST(Descriptor, IsRefusedWithAllThatIsWrong) {
  const auto refused = McpServer::from_descriptor({{"url", 7}, {"refresh_intervall", "5m"}, {"timeout", "0s"}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().data() + refused.error().message(), HasSubstr("refresh_interval"));
  EXPECT_THAT(refused.error().data(), HasSubstr("timeout"));
  EXPECT_THAT(refused.error().data(), HasSubstr("url"));
}

}  // namespace
}  // namespace proteus::client
