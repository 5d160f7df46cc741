// Tests of closing a connection while something is under way.
#include <gtest/gtest.h>

#include "client/testing/legacy_http_fixture.hpp"
#include "client/testing/modern_http_fixture.hpp"

namespace proteus::client {
namespace {

using namespace test;

using ClosingModern = test::ModernHttp;
using ClosingLegacy = test::LegacyHttp;

// REF-24
TEST_F(ClosingModern, WaitsForNobodyWhoIsAskedSomething) {
  mcp.on["tools/call"] = [](const FakeRequest& request) {
    return test::result(request,
                        R"({"resultType":"input_required","requestState":"s","inputRequests":)"
                        R"({"who":{"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{}}}}})");
  };
  Bell never(io.get_executor());
  bool asked = false;
  const auto wait = [](Bell& bell) -> Task<Result<std::string>> {
    co_await bell.wait();
    co_return "{}";
  };
  Options options = test::quick();
  options.handlers.elicit_form = [&](Question) {
    asked = true;
    return wait(never);
  };
  Client client(io, server.url(), std::move(options));
  net::test::Started call(io, call_tool(client.connection, "echo", "{}"));
  client.run_until([&] { return asked; });
  client.run(client.connection.close());
  EXPECT_EQ(call.finish().error().kind(), ErrorKind::cancelled);
}

// Signs in for as long as anybody waits.
class SlowSignIn final : public Authorizer {
 public:
  explicit SlowSignIn(const Executor& executor) : never_(executor) {}
  Task<Result<std::vector<Header>>> headers(std::string_view /*method*/, const net::Url& /*url*/) override {
    co_return std::vector<Header>();
  }
  Task<Result<bool>> refused(Refusal /*refusal*/) override {
    ++refusals;
    co_await never_.wait();
    co_return false;
  }

  int refusals = 0;

 private:
  Bell never_;
};

// REF-24
TEST_F(ClosingLegacy, SignsInForNoGoodbye) {
  FakeServer strict(io, [this](const FakeRequest& request) {
    return request.method == "DELETE" ? FakeResponse{.status = 401} : mcp(request);
  });
  const auto authorizer = std::make_shared<SlowSignIn>(io.get_executor());
  Options options = test::quick();
  options.authorizer = authorizer;
  Client client(io, strict.url(), std::move(options));
  EXPECT_EQ(client.text("echo"), "done");
  client.run(client.connection.close());
  EXPECT_EQ(strict.verbs("DELETE"), 1U);
  EXPECT_EQ(authorizer->refusals, 0);
}

}  // namespace
}  // namespace proteus::client
