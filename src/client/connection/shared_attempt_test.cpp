// Tests of requests that wait for one connection at the same time.
#include <boost/asio/co_spawn.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/modern_http_fixture.hpp"

namespace proteus::client {
namespace {

using namespace test;

using SharedAttempt = test::ModernHttp;

// Sends one token, and has no other.
class Token final : public Authorizer {
 public:
  explicit Token(std::string token) : token_(std::move(token)) {}
  Task<Result<std::vector<Header>>> headers(std::string_view /*method*/, const net::Url& /*url*/) override {
    std::vector<Header> headers = {{"Authorization", "Bearer " + token_}};
    co_return headers;
  }
  Task<Result<bool>> refused(Refusal /*refusal*/) override { co_return false; }

 private:
  std::string token_;
};

// Fails when the test says so, for a reason that concerns its caller only.
class FailingSignIn final : public Authorizer {
 public:
  FailingSignIn(const Executor& executor, Error error) : fails_(executor), error_(std::move(error)) {}
  Task<Result<std::vector<Header>>> headers(std::string_view /*method*/, const net::Url& /*url*/) override {
    is_asked = true;
    co_await fails_.wait();
    co_return std::unexpected(error_);
  }
  Task<Result<bool>> refused(Refusal /*refusal*/) override { co_return false; }
  void fail() { fails_.ring(); }

  bool is_asked = false;

 private:
  Bell fails_;
  const Error error_;
};

RequestOptions as(std::string token) {
  RequestOptions options;
  options.authorizer = std::make_shared<Token>(std::move(token));
  return options;
}

TEST_F(SharedAttempt, FailsForAllThatWaitForIt) {
  mcp.on["server/discover"] = [](const FakeRequest&) { return FakeResponse{.status = 503}; };
  Client client(io, server.url(), test::quick());
  std::vector<std::unique_ptr<net::test::Started<Result<Answer>>>> calls;
  for (int i = 0; i < 3; ++i)
    calls.push_back(
        std::make_unique<net::test::Started<Result<Answer>>>(io, call_tool(client.connection, "echo", "{}")));
  for (const auto& call : calls)
    EXPECT_EQ(call->finish().error().kind(), ErrorKind::unavailable);
  EXPECT_EQ(server.count("server/discover"), 1U);
  EXPECT_FALSE(client.call("echo"));
  EXPECT_EQ(server.count("server/discover"), 2U) << "the next request tries again";
}

TEST_F(SharedAttempt, OfARefusedCallerSaysNothingAboutOthers) {
  const auto discover = mcp.on["server/discover"];
  mcp.on["server/discover"] = [discover](const FakeRequest& request) {
    return request.header("authorization") == "Bearer good" ? discover(request) : FakeResponse{.status = 401};
  };
  Client client(io, server.url(), test::quick());
  net::test::Started stranger(io, call_tool(client.connection, "echo", "{}", as("bad")));
  net::test::Started friend_of_ours(io, call_tool(client.connection, "echo", "{}", as("good")));
  EXPECT_EQ(stranger.finish().error().kind(), ErrorKind::unauthenticated);
  EXPECT_EQ(Client::text_of(friend_of_ours.finish()), "done");
}

// The failure of one caller's credentials, and its text, reach nobody else. PRX-21
TEST_F(SharedAttempt, OfACallerWhoseSignInFailsSaysNothingAboutOthers) {
  for (const Error& error : {errors::exhausted("ada has signed in too often"), errors::unreachable("ada's issuer"),
                             errors::timeout("ada's issuer")}) {
    Client client(io, server.url(), test::quick());
    const auto sign_in = std::make_shared<FailingSignIn>(io.get_executor(), error);
    RequestOptions as_ada;
    as_ada.authorizer = sign_in;
    net::test::Started ada(io, call_tool(client.connection, "echo", "{}", as_ada));
    client.run_until([&] { return sign_in->is_asked; });
    net::test::Started other(io, call_tool(client.connection, "echo", "{}", as("good")));
    net::test::settle(io);
    sign_in->fail();
    EXPECT_EQ(ada.finish().error().kind(), error.kind());
    EXPECT_EQ(Client::text_of(other.finish()), "done") << error.message();
  }
}

TEST_F(SharedAttempt, OfACallerWhoseSignInIsSlowSaysNothingAboutOthers) {
  Options options = test::quick();
  options.timeout = std::chrono::seconds(1);  // enough for the other
  Client client(io, server.url(), options);
  const auto sign_in = std::make_shared<FailingSignIn>(io.get_executor(), errors::exhausted("it does not fail"));
  RequestOptions as_ada;
  as_ada.authorizer = sign_in;
  net::test::Started ada(io, call_tool(client.connection, "echo", "{}", as_ada));
  client.run_until([&] { return sign_in->is_asked; });
  net::test::Started other(io, call_tool(client.connection, "echo", "{}", as("good")));
  EXPECT_EQ(ada.finish().error().kind(), ErrorKind::timeout);
  EXPECT_EQ(Client::text_of(other.finish()), "done");
}

// Otherwise each caller would wait for the same silence, one after the other.
TEST_F(SharedAttempt, OfACallerWhomTheServerDoesNotAnswerFailsForOthers) {
  mcp.on["server/discover"] = [](const FakeRequest&) { return FakeResponse{.hold = true}; };
  Options options = test::quick();
  options.timeout = kBrief;
  Client client(io, server.url(), options);
  net::test::Started one(io, call_tool(client.connection, "echo", "{}", as("one")));
  net::test::Started other(io, call_tool(client.connection, "echo", "{}", as("other")));
  EXPECT_EQ(one.finish().error().kind(), ErrorKind::timeout);
  EXPECT_EQ(other.finish().error().kind(), ErrorKind::timeout);
  EXPECT_EQ(server.count("server/discover"), 1U);
}

}  // namespace
}  // namespace proteus::client
