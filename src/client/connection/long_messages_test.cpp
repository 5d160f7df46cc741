// Tests of messages and lists that take long to read: other work on the connection's thread does not wait for them.
#include <future>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/connection/pending_request.hpp"
#include "client/testing/fake_server.hpp"
#include "client/testing/test_support.hpp"

namespace proteus::client {
namespace {

using namespace std::chrono_literals;
using namespace test;
namespace asio = boost::asio;

// Background threads: a single one, which is busy until `release`.
class BusyBackground {
 public:
  explicit BusyBackground(asio::io_context& io) {
    asio::co_spawn(io, threads_.run([released = released_.get_future().share()] {
      released.wait();
      return 0;
    }),
                   asio::detached);
  }
  ~BusyBackground() { release(); }
  BusyBackground(const BusyBackground&) = delete;
  BusyBackground& operator=(const BusyBackground&) = delete;

  BackgroundThreads* threads() { return &threads_; }
  void release() {
    if (!std::exchange(is_released_, true)) released_.set_value();
  }

 private:
  std::promise<void> released_;
  bool is_released_ = false;
  BackgroundThreads threads_{1};
};

enum class Form { json, events };

struct Server {
  mcp::Era era;
  Form form;
};

const auto kErasAndForms =
    ::testing::Values(Server{mcp::Era::modern, Form::json}, Server{mcp::Era::modern, Form::events},
                      Server{mcp::Era::legacy, Form::json}, Server{mcp::Era::legacy, Form::events});

std::string era_and_form(const ::testing::TestParamInfo<Server>& server) {
  return fmt::format("{}{}", server.param.era == mcp::Era::modern ? "Modern" : "Legacy",
                     server.param.form == Form::json ? "Json" : "Events");
}

class LongMessages : public ::testing::TestWithParam<Server> {
 protected:
  LongMessages() : mcp(GetParam().era == mcp::Era::modern ? FakeMcp::modern() : FakeMcp::legacy()) {
    mcp.on["tools/call"] = [](const FakeRequest& request) {
      const bool is_long = request.params().at("name") == "long";
      return in_form(test::result(request, test::text_result(is_long ? std::string(kLongMessage, 'x') : "short")));
    };
  }
  static FakeResponse in_form(FakeResponse response) {
    if (GetParam().form == Form::json) return response;
    response.type = "text/event-stream";
    response.body = fmt::format("data: {}\n\n", response.body);
    return response;
  }
  Options options() {
    Options options = test::quick();
    options.background = background.threads();
    return options;
  }

  FakeMcp mcp;
  asio::io_context io;
  FakeServer server{io, [this](const FakeRequest& request) { return mcp(request); }};
  BusyBackground background{io};
};

TEST_P(LongMessages, AreReadInTheBackgroundWhileShortOnesAreAnswered) {  // SEC-03
  Client client(io, server.url(), options());
  EXPECT_EQ(client.text("short"), "short");
  net::test::Started waiting(io, call_tool(client.connection, "long", "{}", {}));
  net::test::run_until(io, [&] { return server.count("tools/call") == 2; });
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(client.text("short"), "short");
  EXPECT_FALSE(waiting.is_done());
  background.release();
  EXPECT_EQ(Client::text_of(waiting.finish()), std::string(kLongMessage, 'x'));
}

TEST_P(LongMessages, SoAreLists) {  // SEC-03
  mcp.on["tools/list"] = [](const FakeRequest& request) {
    return in_form(test::result(
        request, fmt::format(R"({{"tools":[{{"name":"a","description":"{}","inputSchema":{{"type":"object"}}}}]}})",
                             std::string(BackgroundThreads::kSmall, 'x'))));
  };
  Client client(io, server.url(), options());
  EXPECT_EQ(client.text("short"), "short");
  net::test::Started waiting(io, client.connection.list(mcp::Method::tools_list));
  net::test::run_until(io, [&] { return server.count("tools/list") == 1; });
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(client.text("short"), "short");
  EXPECT_FALSE(waiting.is_done());
  background.release();
  const auto listing = waiting.finish();
  ASSERT_TRUE(listing) << listing.error().message();
  EXPECT_EQ(listing->entries.size(), 1U);
}

TEST_P(LongMessages, AreNotWaitedForByWhoeverGivesThemUp) {
  auto client = std::make_unique<Client>(io, server.url(), options());
  EXPECT_EQ(client->text("short"), "short");
  net::test::Started waiting(io, call_tool(client->connection, "long", "{}", {}));
  net::test::run_until(io, [&] { return server.count("tools/call") == 2; });
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(client->text("short"), "short");
  waiting.cancel();
  net::test::run_until(io, [&] { return waiting.is_done(); });
  client.reset();
}

// A long answer that is polled on the connection's thread is not read there either.
TEST_P(LongMessages, AreReadInTheBackgroundWhenTheyWereSentAtOnce) {  // SEC-03
  Client client(io, server.url(), LongMessages::options());
  EXPECT_EQ(client.text("short"), "short");
  const auto params = [] {
    Params params{.name = "long", .members = {}};
    params.members.add(R"("name":"long","arguments":{})");
    return params;
  };
  RequestOptions options;
  options.inputs = Inputs::hand_back;
  const auto posted = client.connection.post(mcp::Method::tools_call, params(), options, Stay::here);
  ASSERT_NE(posted, nullptr);
  net::test::Started waiting(io, PendingRequest::finish(posted, params()));
  net::test::run_until(io, [&] { return server.count("tools/call") == 2; });
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(client.text("short"), "short");
  EXPECT_FALSE(waiting.is_done());
  background.release();
  EXPECT_EQ(Client::text_of(waiting.finish()), std::string(kLongMessage, 'x'));
}

INSTANTIATE_TEST_SUITE_P(Servers, LongMessages, kErasAndForms, era_and_form);

TEST(LongMessagesOfPrograms, AreReadInTheBackgroundToo) {
  BackgroundThreads background(1);
  Options options = test::quick();
  options.background = &background;
  Client client(test::stdio_fixture(), std::move(options));
  const std::string text(kLongMessage, 'x');
  EXPECT_THAT(client.text("echo", fmt::format(R"({{"text":"{}"}})", text)), ::testing::HasSubstr(text));
  EXPECT_EQ(client.text("echo"), "{}");
}

TEST(LongMessagesInLines, AreReadInTheBackgroundToo) {
  FakeMcp mcp = FakeMcp::modern();
  mcp.on["tools/call"] = [](const FakeRequest& request) {
    auto response = test::result(request, test::text_result(std::string(kLongMessage, 'x')));
    response.body = R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"first"}})"
                    "\n" +
                    response.body;
    return response;
  };
  asio::io_context io;
  FakeServer server(io, mcp);
  BackgroundThreads background(1);
  Options options = test::quick();
  options.background = &background;
  Client client(io, server.url(), std::move(options));
  EXPECT_EQ(client.text("echo"), std::string(kLongMessage, 'x'));
}

}  // namespace
}  // namespace proteus::client
