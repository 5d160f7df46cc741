// Tests of Streamable HTTP: what is sent, and how right and wrong answers are read.
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/modern_http_fixture.hpp"

namespace proteus::client {
namespace {

using namespace std::chrono_literals;
using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace asio = boost::asio;

using Http = test::ModernHttp;

TEST_F(Http, ModernRequestsCarryCompleteMetadata) {  // PRO-17
  Options options = test::quick();
  options.headers = {{"X-Custom", "yes"}};
  Client client(io, server.url(), std::move(options));
  RequestOptions call;
  call.meta = R"("traceparent":"00-1","com.example/x":{"y":1})";
  call.headers = {{"Mcp-Param-Unknown", "kept"}};
  call.on_progress = [](const mcp::Progress&) {};
  call.log_level = mcp::LogLevel::info;
  EXPECT_EQ(client.text("get weather é", "{}", call), "done");
  const FakeRequest& request = server.last("tools/call");
  EXPECT_EQ(request.header("accept"), "application/json, text/event-stream");
  EXPECT_EQ(request.header("content-type"), "application/json");
  EXPECT_EQ(request.header("mcp-protocol-version"), "2026-07-28");
  EXPECT_EQ(request.header("mcp-method"), "tools/call");
  EXPECT_EQ(request.header("mcp-name"), "=?base64?Z2V0IHdlYXRoZXIgw6k=?=");
  EXPECT_EQ(request.header("mcp-param-unknown"), "kept");
  EXPECT_EQ(request.header("x-custom"), "yes");
  EXPECT_EQ(request.header("mcp-session-id"), "");
  const auto& meta = request.params().at("_meta").as_object();
  EXPECT_EQ(meta.at("io.modelcontextprotocol/protocolVersion"), "2026-07-28");
  EXPECT_EQ(meta.at("io.modelcontextprotocol/clientInfo").at("name"), "proteus");
  EXPECT_TRUE(meta.at("io.modelcontextprotocol/clientCapabilities").is_object());
  EXPECT_EQ(meta.at("io.modelcontextprotocol/logLevel"), "info");
  EXPECT_EQ(meta.at("progressToken"), request.json.at("id"));
  EXPECT_EQ(meta.at("com.example/x").at("y"), 1);
}

// REP-12: modern requests belong to no session that another process could continue.
TEST_F(Http, NumbersModernRequestsWithoutTheOwnersEpoch) {
  Options options = test::quick();
  options.epoch = 7;
  Client client(io, server.url(), std::move(options));
  EXPECT_EQ(client.text("echo"), "done");
  EXPECT_EQ(server.last("tools/call").id(), "1");
  EXPECT_EQ(client.text("echo"), "done");
  EXPECT_EQ(server.last("tools/call").id(), "2");
}

TEST_F(Http, DeclaresWhatItHasHandlersFor) {
  Options options = test::quick();
  options.handlers.sample = [](Question) -> Task<Result<std::string>> { co_return "{}"; };
  options.handlers.list_roots = options.handlers.sample;
  Client client(io, server.url(), std::move(options));
  ASSERT_TRUE(client.run(client.connection.open()));
  const auto& meta = server.last("server/discover").params().at("_meta");
  EXPECT_EQ(boost::json::serialize(meta.at("io.modelcontextprotocol/clientCapabilities")),
            R"({"sampling":{},"roots":{}})");
}

TEST_F(Http, ReadsAnswersFromAnEventStream) {  // PRO-18
  const auto feed = server.feed();
  mcp.on["tools/call"] = [&](const FakeRequest& request) {
    feed->push(": keep-alive\n\n");
    feed->event(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + request.id() +
                R"(,"progress":1}})");
    feed->event(R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hello"}})");
    feed->event(R"({"jsonrpc":"2.0","id":99,"result":{}})");
    return FakeResponse{.type = "text/event-stream; charset=utf-8", .feed = feed};
  };
  Client client(io, server.url(), test::quick());
  std::vector<std::string> seen;
  RequestOptions call;
  call.on_progress = [&](const mcp::Progress& progress) {
    // Progress is reported at once, while the answer is still to come.
    seen.push_back(fmt::format("{}", progress.progress));
    EXPECT_FALSE(feed->ended);
    feed->event(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", server.last("tools/call").id(),
                            test::text_result("streamed")));
    feed->event(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", server.last("tools/call").id(),
                            test::text_result("again")));
  };
  call.on_log = [&](const LogEntry& entry) { seen.emplace_back(entry.data); };
  EXPECT_EQ(client.text("echo", "{}", call), "streamed");
  EXPECT_THAT(seen, ElementsAre("1", "\"hello\""));
}

TEST_F(Http, ReadsSeveralMessagesInOneBodyLineByLine) {
  mcp.on["tools/call"] = [](const FakeRequest& request) {
    auto response = test::result(request, test::text_result("behind it"));
    response.body = R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"first"}})"
                    "\r\n\n" +
                    response.body + "\n";
    return response;
  };
  Client client(io, server.url(), test::quick());
  std::vector<std::string> heard;
  RequestOptions call;
  call.on_notification = [&](const json::Message& message) { heard.emplace_back(message.method); };
  EXPECT_EQ(client.text("echo", "{}", call), "behind it");
  EXPECT_THAT(heard, ElementsAre("notifications/message"));
}

TEST_F(Http, TakesLinesForMessagesOnlyWhereOneIsTheAnswer) {
  const std::string notification = R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})";
  for (const std::string& body : {notification + "\n" + notification, notification + "\n{]", notification + "\n1"}) {
    mcp.on["tools/call"] = [&](const FakeRequest&) { return FakeResponse{.body = body}; };
    Client client(io, server.url(), test::quick());
    int heard = 0;
    RequestOptions call;
    call.on_notification = [&](const json::Message&) { ++heard; };
    EXPECT_THAT(client.text("echo", "{}", call), HasSubstr("no message"));
    EXPECT_EQ(heard, 0);
  }
}

TEST_F(Http, CancelsByClosingTheStream) {  // PRO-09
  const auto feed = server.feed();
  mcp.on["tools/call"] = [&](const FakeRequest&) { return FakeResponse{.type = "text/event-stream", .feed = feed}; };
  Client client(io, server.url(), test::quick());
  asio::cancellation_signal signal;
  bool ended = false;
  asio::co_spawn(io, call_tool(client.connection, "echo", "{}"),
                 asio::bind_cancellation_slot(signal.slot(), [&](const std::exception_ptr& thrown, const auto&) {
                   EXPECT_TRUE(thrown);
                   ended = true;
                 }));
  client.run_until([&] { return server.count("tools/call") == 1; });
  signal.emit(asio::cancellation_type::terminal);
  client.run_until([&] { return ended && feed->abandoned; });
  EXPECT_EQ(server.count("notifications/cancelled"), 0U);
}

TEST_F(Http, TimesOutByClosingTheStream) {  // PRO-09
  mcp.on["tools/call"] = [&](const FakeRequest&) { return FakeResponse{.hold = true}; };
  Client client(io, server.url(), test::quick());
  RequestOptions call;
  call.timeout = test::kBrief;
  EXPECT_EQ(client.call("echo", "{}", call).error().kind(), ErrorKind::timeout);
  client.run_until([&] { return server.abandoned == 1; });
}

TEST_F(Http, RetriesWithNewIdAndExactStateWhenInputIsRequired) {
  mcp.on["tools/call"] = [](const FakeRequest& request) {
    if (!request.params().as_object().contains("requestState"))
      return test::result(request,
                          R"({"resultType":"input_required","requestState":"{\"n\": 1.0}","inputRequests":{
        "a":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}},
        "b":{"method":"roots/list"}}})");
    return test::result(request, test::text_result("complete"));
  };
  Options options = test::quick();
  options.handlers.elicit_form = [](Question) -> Task<Result<std::string>> { co_return R"({"action":"accept"})"; };
  options.handlers.list_roots = [](Question) -> Task<Result<std::string>> { co_return R"({"roots":[]})"; };
  Client client(io, server.url(), std::move(options));
  EXPECT_EQ(client.text("echo", R"({"x":1})"), "complete");
  const auto& retry = server.last("tools/call");
  EXPECT_THAT(retry.body, HasSubstr(R"("requestState":"{\"n\": 1.0}")"));
  EXPECT_EQ(boost::json::serialize(retry.params().at("inputResponses")),
            R"({"a":{"action":"accept","content":{}},"b":{"roots":[]}})");
  EXPECT_EQ(retry.params().at("arguments").at("x"), 1);
  EXPECT_NE(retry.id(), server.requests.at(server.requests.size() - 2).id());
}

TEST_F(Http, RetriesTheProbeOnceWhenItsVersionIsRefusedButNamed) {
  int asked = 0;
  const auto discover = mcp.on["server/discover"];
  mcp.on["server/discover"] = [&, discover](const FakeRequest& request) {
    return asked++ == 0 ? test::rpc_error(request, -32022, "Unsupported", 400, R"({"supported":["2026-07-28"]})")
                        : discover(request);
  };
  Client client(io, server.url(), test::quick());
  EXPECT_EQ(client.text("echo"), "done");
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(server.count("initialize"), 0U);
}

struct Fault {
  const char* name;
  FakeResponse response;
  ErrorKind kind;
  const char* says;
};

class HttpFault : public Http, public ::testing::WithParamInterface<Fault> {};

const Fault kFaults[] = {
    {"Html", {.type = "text/html", .body = "<html>hello</html>"}, ErrorKind::protocol, "text/html"},
    {"NoAnswer", {.status = 202}, ErrorKind::protocol, "nothing in it"},
    {"HalfAHeader", {.raw = "HTTP/1.1 200 OK\r\nContent-Ty"}, ErrorKind::interrupted, ""},
    {"NotHttp", {.raw = "hello there\r\n\r\n"}, ErrorKind::protocol, ""},
    {"HalfABody",
     {.raw = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"},
     ErrorKind::interrupted,
     ""},
    {"InvalidJson", {.body = R"({"jsonrpc":"2.0","id":)"}, ErrorKind::protocol, "no message"},
    {"TwoAnswers",
     {.body = R"({"jsonrpc":"2.0","id":2,"result":{}}{"jsonrpc":"2.0","id":2,"result":{}})"},
     ErrorKind::protocol,
     "no message"},
    {"WrongId", {.body = R"({"jsonrpc":"2.0","id":77,"result":{}})"}, ErrorKind::protocol, "no answer to the request"},
    {"StringId",
     {.body = R"({"jsonrpc":"2.0","id":"2","result":{}})"},
     ErrorKind::protocol,
     "no answer to the request"},
    {"ANotification",
     {.body = R"({"jsonrpc":"2.0","method":"notifications/progress"})"},
     ErrorKind::protocol,
     "no answer to the request"},
    {"ABatch", {.body = R"([{"jsonrpc":"2.0","id":2,"result":{}}])"}, ErrorKind::protocol, "no answer"},
    {"ResultIsNoObject", {.body = R"({"jsonrpc":"2.0","id":2,"result":7})"}, ErrorKind::protocol, "no answer"},
    {"TooLarge", {.body = std::string(200'000, ' ') + "{}"}, ErrorKind::too_large, "max_message_bytes"},
    {"EmptyJson",
     {.raw = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n"},
     ErrorKind::protocol,
     "no message"},
    {"EndlessLine",
     {.raw = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: " + std::string(200'000, 'x')},
     ErrorKind::too_large,
     "100000 bytes, which max_message_bytes sets"},
    {"StreamWithoutAnswer",
     {.raw = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nid: 1\ndata: \n\n"},
     ErrorKind::interrupted,
     "without an answer"},
    {"BadEvent",
     {.raw = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: what\n\n"},
     ErrorKind::protocol,
     "no message"},
    {"Redirect", {.status = 307, .more_headers = "Location: http://elsewhere/\r\n"}, ErrorKind::protocol, "elsewhere"},
    {"Unauthorized", {.status = 401}, ErrorKind::unauthenticated, "401"},
    {"Forbidden",
     {.status = 403, .body = R"({"jsonrpc":"2.0","error":{"code":-32600,"message":"Origin"}})"},
     ErrorKind::forbidden,
     "HTTP 403: Origin"},
    {"TooManyRequests", {.status = 429}, ErrorKind::unavailable, "429"},
    {"ServerError", {.status = 500, .type = "text/plain", .body = "oops\x1b[31m"}, ErrorKind::unavailable, "oops"},
};
INSTANTIATE_TEST_SUITE_P(Modern, HttpFault, ::testing::ValuesIn(kFaults),
                         [](const auto& fault) { return fault.param.name; });

TEST_P(HttpFault, IsAClearErrorAndTheConnectionGoesOn) {  // SEC-06
  Options options = test::quick();
  options.limits.message_bytes = 100'000;
  Client client(io, server.url(), std::move(options));
  ASSERT_TRUE(client.run(client.connection.open()));
  const auto fine = mcp.on["tools/call"];
  mcp.on["tools/call"] = [](const FakeRequest&) { return GetParam().response; };
  const auto answer = client.call("echo");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind(), GetParam().kind) << answer.error().message();
  EXPECT_THAT(answer.error().message(), HasSubstr(GetParam().says));
  EXPECT_EQ(server.count("tools/call"), 1U) << "sent twice";
  mcp.on["tools/call"] = fine;
  EXPECT_EQ(client.text("echo"), "done");
}

TEST_F(Http, IgnoresRequestsOfAModernServer) {  // SEC-06
  mcp.on["tools/call"] = [this](const FakeRequest& request) {
    const auto feed = server.feed();
    feed->event(R"({"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}})");
    feed->event(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", request.id(), test::text_result("fine")));
    return FakeResponse{.type = "text/event-stream", .feed = feed};
  };
  Client client(io, server.url(), test::quick());
  EXPECT_EQ(client.text("echo"), "fine");
  EXPECT_EQ(server.requests.size(), 2U);
}

TEST_F(Http, FailsFastWhereNobodyListens) {
  std::optional<net::Url> url;
  {
    FakeServer gone(io, [](const FakeRequest&) { return FakeResponse{}; });
    url = gone.url();
  }
  Client client(io, *url, test::quick());
  EXPECT_EQ(client.call("echo").error().kind(), ErrorKind::unreachable);
}

// Has new credentials after the first refusal.
class TwoTokens final : public Authorizer {
 public:
  explicit TwoTokens(bool at_once = false) : at_once_(at_once) {}

  Task<Result<std::vector<Header>>> headers(std::string_view, const net::Url&) override { co_return written(); }
  ReadyHeaders::Pointer headers_now(std::string_view, const net::Url&) override {
    return at_once_ ? std::make_shared<const ReadyHeaders>(written()) : nullptr;
  }
  void accepted(std::string_view dpop_nonce) override { nonces.emplace_back(dpop_nonce); }
  Task<Result<bool>> refused(Refusal refusal) override {
    refusals.push_back(fmt::format("{} {}", refusal.status, refusal.challenge));
    sent.push_back(refusal.sent.empty() ? "" : refusal.sent.front().second);
    co_return std::exchange(token_, "new") == "old";
  }
  std::vector<std::string> refusals;
  std::vector<std::string> sent;
  std::vector<std::string> nonces;

 private:
  std::vector<Header> written() const { return {{"Authorization", "Bearer " + token_}}; }

  const bool at_once_;
  std::string token_ = "old";
};

TEST_F(Http, AsksTheAuthorizerAgainWhenItIsRefused) {
  const FakeMcp fine = mcp;
  mcp.on["server/discover"] = [fine](const FakeRequest& request) {
    if (request.header("authorization") != "Bearer new")
      return FakeResponse{.status = 401, .more_headers = "WWW-Authenticate: Bearer realm=x\r\n"};
    return fine(request);
  };
  Options options = test::quick();
  const auto authorizer = std::make_shared<TwoTokens>();
  options.authorizer = authorizer;
  Client client(io, server.url(), std::move(options));
  EXPECT_EQ(client.text("echo"), "done");
  EXPECT_THAT(authorizer->refusals, ElementsAre("401 Bearer realm=x"));
  mcp.on["tools/call"] = [](const FakeRequest&) { return FakeResponse{.status = 401}; };
  EXPECT_EQ(client.call("echo").error().kind(), ErrorKind::unauthenticated);
  EXPECT_EQ(authorizer->refusals.size(), 2U);
}

// UPC-15: requests of several callers share a connection, but each carries its own caller's credentials.
TEST_F(Http, SendsEachRequestWithTheCredentialsOfItsOwnCaller) {
  std::vector<std::string> seen;
  const FakeMcp fine = mcp;
  mcp.on["tools/call"] = [&seen, fine](const FakeRequest& request) {
    seen.push_back(std::string(request.header("authorization")));
    if (seen.back() == "Bearer old")
      return FakeResponse{.status = 401, .more_headers = "WWW-Authenticate: Bearer error=\"invalid_token\"\r\n"};
    FakeMcp answering = fine;
    auto response = answering(request);
    response.more_headers = fmt::format("DPoP-Nonce: n{}\r\n", seen.size());
    return response;
  };
  Client client(io, server.url(), test::quick());
  const auto authorizer = std::make_shared<TwoTokens>(true);
  RequestOptions as_somebody;
  as_somebody.inputs = Inputs::hand_back;
  as_somebody.authorizer = authorizer;
  EXPECT_TRUE(client.call("echo", "{}", as_somebody));
  EXPECT_TRUE(client.call("echo", "{}", as_somebody));
  RequestOptions as_nobody;
  as_nobody.inputs = Inputs::hand_back;
  EXPECT_TRUE(client.call("echo", "{}", as_nobody));
  EXPECT_THAT(seen, ElementsAre("Bearer old", "Bearer new", "Bearer new", ""));
  EXPECT_THAT(authorizer->sent, ElementsAre("Bearer old"));
  EXPECT_EQ(authorizer->nonces.back(), "n3") << "RFC 9449, section 8.2: also of a request that was sent at once";
}

}  // namespace
}  // namespace proteus::client
