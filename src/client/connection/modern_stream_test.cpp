// Tests of tool calls that a modern server answers by a stream, sent at once or over a new connection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/connection/pending_request.hpp"
#include "client/testing/modern_http_fixture.hpp"

namespace proteus::client {
namespace {

using namespace std::chrono_literals;
using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// How a call is sent: over a new HTTP connection, or at once over an idle one.
enum class Way { connecting, at_once };
const auto kWays = ::testing::Values(Way::connecting, Way::at_once);
std::string name_of(const ::testing::TestParamInfo<Way>& way) {
  return way.param == Way::connecting ? "Connecting" : "AtOnce";
}

// A tool call that a modern server answers by a stream.
class PostedToModern : public test::ModernHttp, public ::testing::WithParamInterface<Way> {
 protected:
  PostedToModern() {
    mcp.on["tools/call"] = [this](const FakeRequest&) {
      return FakeResponse{.type = "text/event-stream", .feed = feed};
    };
    options.inputs = Inputs::hand_back;
    options.progress = true;
    options.on_notification = [this](const json::Message& message) {
      told.emplace_back(message.body.value("progress"));
      if (on_told) on_told();
    };
  }

  void start(std::chrono::milliseconds timeout = 10s) {
    options.timeout = timeout;
    if (GetParam() == Way::at_once) {
      ASSERT_TRUE(client.run(client.connection.request(mcp::Method::tools_list, {})));
      const auto posted = client.connection.post(mcp::Method::tools_call, echo_params(), options, Stay::here);
      ASSERT_NE(posted, nullptr);
      call.emplace(io, PendingRequest::finish(posted, echo_params()));
    } else {
      call.emplace(io, client.connection.request(mcp::Method::tools_call, echo_params(), options));
    }
    client.run_until([&] { return server.count("tools/call") == 1; });
  }
  void tell(std::string_view token, int progress) {
    feed->event(fmt::format(
        R"({{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":{}}}}})", token,
        progress));
  }

  // Few time-outs in all, so that each may be long: a busy machine pauses.
  static constexpr int kExtension = 3;
  static Options extending() {
    Options options = test::quick();
    options.progress_extension = kExtension;
    return options;
  }

  std::shared_ptr<Feed> feed = server.feed();
  Client client{io, server.url(), extending()};
  RequestOptions options;
  std::vector<std::string> told;
  std::function<void()> on_told;
  std::optional<net::test::Started<Result<Answer>>> call;
};

INSTANTIATE_TEST_SUITE_P(Ways, PostedToModern, kWays, name_of);

TEST_P(PostedToModern, TellsProgressOfThisRequestAlone) {  // PRX-14
  start();
  const auto token = server.last("tools/call").params().at("_meta").at("progressToken");
  EXPECT_EQ(boost::json::serialize(token), server.last("tools/call").id());
  tell("77", 1);
  tell(boost::json::serialize(token), 2);
  feed->event(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", server.last("tools/call").id(),
                          test::text_result("done")));
  EXPECT_EQ(Client::text_of(call->finish()), "done");
  EXPECT_THAT(told, ElementsAre("2"));
}

TEST_P(PostedToModern, HasTimeForAsLongAsItProgressesAndNotForEver) {  // PRO-08
  const auto timeout = 1s;
  const auto began = std::chrono::steady_clock::now();
  start(timeout);
  on_told = [&] { tell(server.last("tools/call").id(), 1); };
  on_told();
  EXPECT_EQ(call->finish().error().kind(), ErrorKind::timeout);
  EXPECT_GE(std::chrono::steady_clock::now() - began, kExtension * timeout);
}

TEST_P(PostedToModern, EndsWhereProgressStops) {
  start(kBrief);
  tell(server.last("tools/call").id(), 1);
  EXPECT_EQ(call->finish().error().kind(), ErrorKind::timeout);
}

// Events that arrive together with the head are read like events that arrive one by one.
class WholeEvents : public PostedToModern {
 protected:
  void start_with(const std::function<std::string(const std::string& id)>& events) {
    mcp.on["tools/call"] = [events](const FakeRequest& request) {
      return FakeResponse{.type = "text/event-stream", .body = events(request.id())};
    };
    start();
    answer.emplace(call->finish());
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

  std::optional<Result<Answer>> answer;
};

INSTANTIATE_TEST_SUITE_P(Ways, WholeEvents, kWays, name_of);

TEST_P(WholeEvents, AreToldAndAnswered) {
  start_with([](const std::string& id) {
    return ": a comment\n\n" + progress("77") + progress(id) + "event: other\ndata: x\n\n" +
           "data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\"}\n\n" + "data: " + result(id) + "\n\n" +
           progress(id);
  });
  ASSERT_TRUE(*answer);
  EXPECT_THAT((*answer)->text(), HasSubstr("done"));
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
  EXPECT_THAT((*answer)->text(), HasSubstr("done"));
  EXPECT_FALSE((*answer)->on_one_line());
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
