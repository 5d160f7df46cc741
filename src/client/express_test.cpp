#include "client/express.hpp"

#include <boost/asio/co_spawn.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/fake_server.hpp"
#include "client/test_support.hpp"

namespace proteus::client {
namespace {

using namespace std::chrono_literals;
using test::FakeMcp;
using test::FakeRequest;
using test::FakeResponse;
using test::FakeServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace asio = boost::asio;

// One call of a tool whose answer is a stream, with a clock that is moved by hand.
// Over a connection that is opened for it, or over an idle one.
enum class Way { connecting, at_once };
const auto kWays = ::testing::Values(Way::connecting, Way::at_once);
std::string name_of(const ::testing::TestParamInfo<Way>& way) {
  return way.param == Way::connecting ? "Connecting" : "AtOnce";
}

class ExpressCall : public ::testing::TestWithParam<Way> {
 protected:
  ExpressCall() {
    mcp.on["tools/call"] = [this](const FakeRequest&) {
      return FakeResponse{.type = "text/event-stream", .feed = feed};
    };
  }
  ~ExpressCall() override {
    http.close();
    io.poll();
  }

  void start() {
    if (GetParam() == Way::at_once) connect();
    asio::co_spawn(
        io, GetParam() == Way::at_once ? send_at_once() : express.send(request),
        [this](const std::exception_ptr&, Result<std::optional<Answer>> result) { answer = std::move(result); });
    net::test::run_until(io, [&] { return server.count("tools/call") == 1; });
  }
  void connect() {
    Express::Request list{.method = mcp::Method::tools_list,
                          .name = "",
                          .members = nothing,
                          .capabilities = "{}",
                          .meta = "",
                          .timeout = 10s};
    ASSERT_TRUE(net::test::run(io, express.send(list)));
  }
  Task<Result<std::optional<Answer>>> send_at_once() {
    auto sent = express.try_send(request);
    if (!sent) co_return std::unexpected(errors::internal("there is no idle connection"));
    co_return co_await express.rest(std::move(*sent), request);
  }
  void tell(std::string_view token, int progress) {
    feed->event(fmt::format(
        R"({{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":{}}}}})", token,
        progress));
  }
  void pass(std::chrono::milliseconds time) {
    clock.advance(time);
    http.sweep();
  }

  asio::io_context io;
  ManualClock clock;
  FakeMcp mcp = FakeMcp::modern();
  FakeServer server{io, [this](const FakeRequest& received) { return mcp(received); }};
  std::shared_ptr<test::Feed> feed = server.feed();
  net::HttpClient http{io, clock};
  Express express{http, server.url(), test::quick()};
  const mcp::Payload nothing;
  const mcp::Payload members = mcp::Payload(R"("name":"echo","arguments":{})");
  const Express::Request request{.method = mcp::Method::tools_call,
                                 .name = "echo",
                                 .members = members,
                                 .capabilities = "{}",
                                 .meta = "",
                                 .progress = true,
                                 .on_notification = [this](const json::Message& message,
                                                           bool) { told.emplace_back(message.body.value("progress")); },
                                 .timeout = 10s};
  std::vector<std::string> told;
  std::optional<Result<std::optional<Answer>>> answer;
};

INSTANTIATE_TEST_SUITE_P(Ways, ExpressCall, kWays, name_of);

TEST_P(ExpressCall, TellsProgressOfThisRequestAlone) {  // PRX-14
  start();
  const auto token = server.last("tools/call").params().at("_meta").at("progressToken");
  EXPECT_EQ(boost::json::serialize(token), server.last("tools/call").id());
  tell("77", 1);
  tell(boost::json::serialize(token), 2);
  feed->event(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", server.last("tools/call").id(),
                          test::text_result("done")));
  net::test::run_until(io, [&] { return answer.has_value(); });
  EXPECT_THAT(told, ElementsAre("2"));
  ASSERT_TRUE(*answer);
}

TEST_P(ExpressCall, HasTimeForAsLongAsItProgresses) {  // PRO-08
  start();
  const std::string token = server.last("tools/call").id();
  for (int i = 1; i <= 9; ++i) {
    tell(token, i);
    net::test::run_until(io, [&] { return told.size() == static_cast<std::size_t>(i); });
    pass(9s);
    io.poll();
    ASSERT_FALSE(answer) << i;
  }
  // Not longer than so many time-outs in all.
  tell(token, 10);
  net::test::run_until(io, [&] { return told.size() == 10; });
  pass(20s);
  net::test::run_until(io, [&] { return answer.has_value(); });
  EXPECT_EQ(answer->error().kind(), ErrorKind::timeout);
}

TEST_P(ExpressCall, EndsWhereProgressStops) {
  start();
  tell(server.last("tools/call").id(), 1);
  net::test::run_until(io, [&] { return told.size() == 1; });
  pass(11s);
  net::test::run_until(io, [&] { return answer.has_value(); });
  EXPECT_EQ(answer->error().kind(), ErrorKind::timeout);
}

// Events that came together with the head are read as those that come one by one.
class WholeEvents : public ExpressCall {
 protected:
  void start_with(const std::function<std::string(const std::string& id)>& events) {
    mcp.on["tools/call"] = [events](const FakeRequest& request) {
      return FakeResponse{.type = "text/event-stream", .body = events(request.id())};
    };
    start();
    net::test::run_until(io, [&] { return answer.has_value(); });
  }
  static std::string result(const std::string& id) {
    return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", id, test::text_result("done"));
  }
  static std::string progress(const std::string& token) {
    return fmt::format(
        R"(data: {{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":3}}}})"
        "\n\n",
        token);
  }
};

INSTANTIATE_TEST_SUITE_P(Ways, WholeEvents, kWays, name_of);

TEST_P(WholeEvents, AreToldAndAnswered) {
  start_with([](const std::string& id) {
    return ": a comment\n\n" + progress("77") + progress(id) + "event: other\ndata: x\n\n" +
           "data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\"}\n\n" + "data: " + result(id) + "\n\n" +
           progress(id);
  });
  ASSERT_TRUE(*answer);
  EXPECT_THAT((**answer)->text(), HasSubstr("done"));
  EXPECT_THAT(told, ElementsAre("3")) << "of this request alone, and nothing behind the answer";
}

TEST_P(WholeEvents, MayHaveTheirDataInSeveralLines) {
  start_with([](const std::string& id) {
    std::string told = progress(id);
    std::string text = result(id);
    return progress(id) + told.insert(told.find(R"("method")"), "\ndata: ") + progress(id) +  //
           "data: " + text.insert(text.find(R"("result")"), "\ndata: ") + "\n\n";
  });
  ASSERT_TRUE(*answer);
  EXPECT_THAT((**answer)->text(), HasSubstr("done"));
  EXPECT_FALSE((**answer)->on_one_line());
  EXPECT_THAT(told, ElementsAre("3", "3", "3"));
}

TEST_P(WholeEvents, MayEndWithoutAnAnswer) {
  start_with([](const std::string& id) { return progress(id) + "data: " + result(id); });
  EXPECT_EQ(answer->error().kind(), ErrorKind::interrupted) << "an event that is not closed is none";
}

TEST_P(WholeEvents, AreHeldToWhatAMessageIs) {
  start_with([](const std::string&) { return std::string("data: {]\n\n"); });
  EXPECT_EQ(answer->error().kind(), ErrorKind::protocol);
}

}  // namespace
}  // namespace proteus::client
