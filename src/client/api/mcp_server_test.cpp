// Tests of the public, blocking client.
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <future>
#include <mutex>

#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <proteus/client.hpp>

#include "client/testing/fake_server.hpp"

namespace proteus::client {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

McpServer::Builder fixture(std::vector<std::string> arguments = {}) {
  std::vector<std::string> argv = {"python3", PROTEUS_SOURCE_DIR "/tests/fixtures/stdio_server.py"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return McpServer::builder().command(std::move(argv));
}

class PublicClient : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Stdio, PublicClient, ::testing::Values("legacy", "modern"),
                         [](const auto& era) { return std::string(era.param); });

TEST_P(PublicClient, OpensListsAndCalls) {
  auto server = fixture({"--era", GetParam()}).build();
  EXPECT_FALSE(server.is_open());
  const auto opened = server.open();
  ASSERT_TRUE(opened) << opened.error().message();
  const auto info = server.info();
  EXPECT_EQ(info->era, std::string_view(GetParam()) == "legacy" ? client::Era::legacy : client::Era::modern);
  EXPECT_EQ(info->name, "fixture");
  EXPECT_EQ(info->instructions, "Be gentle.");
  EXPECT_EQ(server.tools()->size(), 18U);
  EXPECT_EQ(server.tool("echo")->input_schema().at("type"), "object");
  EXPECT_EQ(server.tool("nothing").error().kind(), ErrorKind::not_found);
  EXPECT_EQ(server.prompts()->at(0).name, "greet");
  EXPECT_EQ(server.resources()->at(0).uri, "test://one");
  EXPECT_EQ(server.resource_templates()->at(0).uri_template, "test://{x}");
  const auto result = server.call_tool("echo", {{"x", 1}});
  EXPECT_EQ(result->text(), R"({"x": 1})");
  EXPECT_FALSE(result->is_error);
  EXPECT_EQ(server.read_resource("test://one")->at("contents").at(0).at("text"), "content");
  EXPECT_THAT(boost::json::serialize(*server.get_prompt("greet", {{"who", "you"}})), HasSubstr("you"));
  EXPECT_THAT(*server.complete({{"type", "ref/prompt"}, {"name", "greet"}}, "who", "y"), ElementsAre("y!"));
  EXPECT_TRUE(server.ping());
}

// REF-34
TEST_P(PublicClient, SaysOfEachListWhyItCouldNotBeRead) {
  auto server = fixture({"--era", GetParam(), "--fault", "fails-prompts/list+fails-resources/list"}).build();
  ASSERT_TRUE(server.open());
  EXPECT_EQ(server.tools()->size(), 18U);
  const auto prompts = server.prompts();
  ASSERT_FALSE(prompts);
  EXPECT_THAT(prompts.error().message(), HasSubstr("prompts/list"));
  const auto resources = server.resources();
  ASSERT_FALSE(resources);
  EXPECT_THAT(resources.error().message(), HasSubstr("resources/list"));
}

TEST_P(PublicClient, ReportsProgressOnTheCallingThread) {
  auto server = fixture({"--era", GetParam()}).build();
  ASSERT_TRUE(server.open());
  std::vector<double> seen;
  CallOptions options;
  options.on_progress = [&, thread = std::this_thread::get_id()](const Progress& progress) {
    EXPECT_TRUE(std::this_thread::get_id() == thread);
    seen.push_back(progress.progress);
  };
  ASSERT_TRUE(server.call_tool("progress", {}, options));
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
}

TEST_P(PublicClient, HandlersMayBlockAndCallTheServer) {
  McpServer* self = nullptr;
  auto server = fixture({"--era", GetParam()})
                    .on_elicitation([&](const Elicitation& elicitation) {
                      EXPECT_EQ(elicitation.message, "Who?");
                      EXPECT_EQ(self->call_tool("echo")->text(), "{}");
                      return ElicitationAnswer{.action = ElicitationAnswer::Action::accept};
                    })
                    .build();
  self = &server;
  ASSERT_TRUE(server.open());
  EXPECT_THAT(server.call_tool("ask")->text(), HasSubstr("Ada"));
}

TEST_P(PublicClient, TellsWhatChanged) {
  std::promise<Change> changed;
  auto server = fixture({"--era", GetParam()}).build();
  server.add_change_listener([&](const Change& change) {
    EXPECT_TRUE(server.tool("new"));
    changed.set_value(change);
  });
  ASSERT_TRUE(server.open());
  ASSERT_TRUE(server.call_tool("change"));
  auto future = changed.get_future();
  ASSERT_EQ(future.wait_for(30s), std::future_status::ready);
  const Change change = future.get();
  EXPECT_EQ(change.kind, Change::Kind::tools);
  EXPECT_THAT(change.added, ElementsAre("new"));
  EXPECT_TRUE(change.removed.empty());
  EXPECT_TRUE(change.changed.empty());
}

TEST_P(PublicClient, CloseEndsACallOfAnotherThread) {
  auto server = fixture({"--era", GetParam()}).build();
  ASSERT_TRUE(server.open());
  std::promise<void> started;
  auto call = std::async(std::launch::async, [&] {
    started.set_value();
    return server.call_tool("slow");
  });
  started.get_future().wait();
  server.close();
  const auto result = call.get();
  ASSERT_FALSE(result);
  EXPECT_THAT(std::vector({ErrorKind::cancelled, ErrorKind::conflict}), ::testing::Contains(result.error().kind()));
  EXPECT_FALSE(server.is_open());
  EXPECT_EQ(server.tools().error().kind(), ErrorKind::conflict);
  EXPECT_TRUE(server.open());
  EXPECT_EQ(server.call_tool("echo")->text(), "{}");
}

TEST_P(PublicClient, HandlersMayCloseAndOpen) {
  McpServer* self = nullptr;
  std::promise<Result<>> opened;
  auto server = fixture({"--era", GetParam()})
                    .on_elicitation([&](const Elicitation&) {
                      self->close();
                      EXPECT_TRUE(self->open());
                      self->close();
                      opened.set_value(self->open());
                      return ElicitationAnswer();
                    })
                    .build();
  self = &server;
  ASSERT_TRUE(server.open());
  EXPECT_EQ(server.call_tool("ask").error().kind(), ErrorKind::cancelled);
  auto outcome = opened.get_future();
  ASSERT_EQ(outcome.wait_for(30s), std::future_status::ready);
  EXPECT_TRUE(outcome.get());
  EXPECT_EQ(server.call_tool("echo")->text(), "{}");
}

TEST_P(PublicClient, AHandlerMayCloseWhatAnotherThreadCloses) {
  McpServer* self = nullptr;
  std::promise<void> asked;
  std::promise<void> closing;
  auto server = fixture({"--era", GetParam()})
                    .on_elicitation([&](const Elicitation&) {
                      asked.set_value();
                      closing.get_future().wait();
                      self->close();
                      return ElicitationAnswer();
                    })
                    .build();
  self = &server;
  ASSERT_TRUE(server.open());
  auto call = std::async(std::launch::async, [&] { return server.call_tool("ask"); });
  asked.get_future().wait();
  auto closed = std::async(std::launch::async, [&] { server.close(); });
  EXPECT_FALSE(call.get());
  closing.set_value();
  closed.get();
  EXPECT_FALSE(server.is_open());
}

TEST_P(PublicClient, AHandlerCannotOpenWhatIsBeingDestroyed) {
  std::promise<void> asked;
  std::promise<void> closing;
  std::promise<Result<>> opened;
  McpServer* self = nullptr;
  auto server = std::make_unique<McpServer>(fixture({"--era", GetParam()})
                                                .on_elicitation([&](const Elicitation&) {
                                                  asked.set_value();
                                                  closing.get_future().wait();
                                                  self->close();
                                                  opened.set_value(self->open());
                                                  return ElicitationAnswer();
                                                })
                                                .build());
  self = server.get();
  ASSERT_TRUE(server->open());
  auto call = std::async(std::launch::async, [&] { return self->call_tool("ask"); });
  asked.get_future().wait();
  auto destroyed = std::async(std::launch::async, [&] { server.reset(); });
  EXPECT_FALSE(call.get());
  closing.set_value();
  const auto outcome = opened.get_future().get();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind(), ErrorKind::cancelled);
  destroyed.get();
}

TEST_P(PublicClient, ACallbackOfACallMayCloseAndThrow) {
  auto server = fixture({"--era", GetParam()}).build();
  CallOptions options;
  ASSERT_TRUE(server.open());
  options.on_progress = [&](const Progress&) { throw std::runtime_error("enough"); };
  EXPECT_THROW((void)server.call_tool("progress", {{"steps", 3}}, options), std::runtime_error);
  EXPECT_EQ(server.call_tool("echo")->text(), "{}");
  options.on_progress = [&](const Progress&) { server.close(); };
  EXPECT_EQ(server.call_tool("progress", {{"steps", 100}, {"pause", 0.05}}, options).error().kind(),
            ErrorKind::cancelled);
  EXPECT_FALSE(server.is_open());
}

TEST(PublicClientSettings, SaysWhatIsWrongWhenItOpens) {
  EXPECT_EQ(McpServer::builder("ftp://example.com").build().open().error().kind(), ErrorKind::invalid);
  EXPECT_EQ(McpServer::builder("http://example.com").command({"x"}).build().open().error().kind(), ErrorKind::invalid);
  const auto missing = McpServer::builder("http://127.0.0.1:1/mcp")
                           .auth(BearerToken::from_env("PROTEUS_TEST_NO_SUCH_VARIABLE"))
                           .build()
                           .open();
  EXPECT_EQ(missing.error().kind(), ErrorKind::unauthenticated);
  EXPECT_THAT(missing.error().message(), HasSubstr("PROTEUS_TEST_NO_SUCH_VARIABLE"));
  EXPECT_EQ(McpServer::builder("http://127.0.0.1:1/mcp").build().open().error().kind(), ErrorKind::unreachable);
}

// A server in its own thread, because the client blocks.
class HttpServer {
 public:
  explicit HttpServer(test::FakeMcp mcp)
      : server_(io_, std::move(mcp)), url_(server_.url().text()), thread_([this] { io_.run(); }) {}
  ~HttpServer() {
    io_.stop();
    thread_.join();
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  const std::string& url() const { return url_; }
  std::vector<test::FakeRequest> requests() {
    return boost::asio::post(io_, boost::asio::use_future([this] { return server_.requests; })).get();
  }

 private:
  boost::asio::io_context io_;
  test::FakeServer server_;
  std::string url_;
  std::thread thread_;
};

TEST(PublicClientSettings, SendsCredentials) {
  ::setenv("PROTEUS_TEST_TOKEN", "from the environment", 1);
  HttpServer http(test::FakeMcp::modern());
  const auto open = [&](const Auth& auth) {
    auto server = McpServer::builder(http.url()).auth(auth).header("X-More", "1").timeout(5s).build();
    EXPECT_TRUE(server.open());
    EXPECT_TRUE(server.call_tool("echo"));
  };
  open(BearerToken::of("abc"));
  open(BearerToken::from_env("PROTEUS_TEST_TOKEN"));
  open(BasicAuth::of("user", "pass"));
  open(HeaderAuth::of("X-Api-Key", "key"));
  std::vector<std::string> seen;
  for (const auto& request : http.requests()) {
    EXPECT_EQ(request.header("x-more"), "1");
    if (request.rpc() == "tools/call") seen.push_back(request.header("authorization") + request.header("x-api-key"));
  }
  EXPECT_THAT(seen, ElementsAre("Bearer abc", "Bearer from the environment", "Basic dXNlcjpwYXNz", "key"));
}

// REF-31
TEST(PublicClientSettings, SendsMetaWithLists) {
  for (auto mcp : {test::FakeMcp::legacy(), test::FakeMcp::modern()}) {
    mcp.on["resources/list"] = [](const test::FakeRequest& request) {
      return test::result(request, R"({"resources":[]})");
    };
    HttpServer http(std::move(mcp));
    auto server = McpServer::builder(http.url()).list_meta({{"tenant", "a"}}).timeout(5s).build();
    ASSERT_TRUE(server.open());
    ASSERT_TRUE(server.refresh_now().ok());
    ASSERT_TRUE(server.call_tool("echo"));
    int lists = 0;
    for (const auto& request : http.requests()) {
      if (request.rpc() == "tools/list") {
        ++lists;
        EXPECT_EQ(request.params().at("_meta").at("tenant"), "a");
      } else if (request.rpc() == "tools/call") {
        EXPECT_THAT(request.body, ::testing::Not(HasSubstr("tenant")));
      }
    }
    EXPECT_GE(lists, 2);
  }
}

// SEC-04
TEST(PublicClientSettings, HoldsOnlySoMuchOfLogMessagesWithLongNames) {
  constexpr int kSent = 5;
  auto mcp = test::FakeMcp::legacy();
  mcp.on["tools/call"] = [](const test::FakeRequest& request) {
    const std::string logger(std::size_t{12} << 20U, 'x');
    std::string events;
    for (const std::string& name : {logger, logger, logger, logger, logger, std::string("the last")}) {
      events += fmt::format(
          R"(data: {{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","logger":"{}","data":1}}}})"
          "\n\n",
          name);
    }
    events += fmt::format(R"(data: {{"jsonrpc":"2.0","id":{},"result":{}}})"
                          "\n\n",
                          request.id(), test::text_result("done"));
    return test::FakeResponse{.type = "text/event-stream", .body = std::move(events)};
  };
  HttpServer http(std::move(mcp));
  std::promise<void> go_on;
  std::shared_future<void> may_go_on = go_on.get_future().share();
  std::promise<void> ended;
  int heard = 0;
  auto server = McpServer::builder(http.url())
                    .on_log([&](const LogMessage& message) {
                      may_go_on.wait();
                      if (message.logger == "the last") return ended.set_value();
                      ++heard;
                    })
                    .build();
  ASSERT_TRUE(server.open());
  EXPECT_TRUE(server.call_tool("echo"));
  go_on.set_value();
  ended.get_future().wait();
  EXPECT_LT(heard, kSent);
}

// An MCP server that is its own authorization server.
test::FakeMcp wanting_token() {
  auto mcp = test::FakeMcp::modern();
  mcp.on["server/discover"] = [discover = mcp.on["server/discover"]](const test::FakeRequest& request) {
    return request.header("authorization").empty() ? test::FakeResponse{.status = 401} : discover(request);
  };
  mcp.get = [](const test::FakeRequest& request) {
    const std::string origin = "http://" + request.header("host");
    if (request.target.contains("oauth-protected-resource"))
      return test::FakeResponse{.body =
                                    fmt::format(R"({{"resource":"{0}/mcp","authorization_servers":["{0}"]}})", origin)};
    return test::FakeResponse{.body = fmt::format(R"({{"issuer":"{0}","token_endpoint":"{0}/token"}})", origin)};
  };
  // A form, and so without a method.
  mcp.on[""] = [](const test::FakeRequest&) {
    return test::FakeResponse{.body = R"({"access_token":"t","token_type":"Bearer","expires_in":3600})"};
  };
  return mcp;
}

TEST(PublicClientSettings, MayBeClosedWhereASignInIsLoadedOrSaved) {
  HttpServer http(wanting_token());
  McpServer* self = nullptr;
  int saved = 0;
  OAuth oauth{.grant = OAuth::Grant::client_credentials,
              .client = {.id = "me", .secret = {.text = "secret", .variable = {}}},
              .save = [&](const std::string&) { ++saved; }};
  const auto open = [&] {
    auto server = McpServer::builder(http.url()).auth(oauth).timeout(5s).build();
    self = &server;
    return server.open();
  };
  const auto opened = open();
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(saved, 1);
  oauth.save = [&](const std::string&) { self->close(); };
  EXPECT_EQ(open().error().kind(), ErrorKind::cancelled);
  oauth.load = [&] {
    self->close();
    return std::string();
  };
  oauth.save = {};
  EXPECT_EQ(open().error().kind(), ErrorKind::cancelled);
}

}  // namespace
}  // namespace proteus::client
