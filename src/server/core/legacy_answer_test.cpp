#include "server/core/legacy_answer.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "base/testing/test_run.hpp"

namespace proteus::server {
namespace {

// Accepts every subscription, and records on whose behalf it subscribes.
class Following final : public Service {
 public:
  Face face(const Caller&, mcp::Era) override { return {}; }
  mcp::ResultStyle modern_style() const override { return {mcp::Era::modern, {}, {}}; }
  Task<mcp::Outcome> handle(Call&) override { co_return mcp::Reply{}; }
  std::optional<mcp::Outcome> answer(Call&) override { return std::nullopt; }
  mcp::SubscriptionFilter accept(const mcp::SubscriptionFilter& wanted, const Caller&, Session*) override {
    return wanted;
  }
  Task<std::vector<Refused>> follow(const Caller&, std::string_view authorization, Session*, const mcp::Request&,
                                    const mcp::SubscriptionFilter&) override {
    authorizations.emplace_back(authorization);
    co_return std::vector<Refused>{};
  }
  void session_listens(Session&) override {}
  void client_notified(Session&, const json::Message&) override {}

  std::vector<std::string> authorizations;
};

class NoChannel final : public CallChannel {
 public:
  explicit NoChannel(const Executor& executor) : cancellation_(std::make_shared<Cancellation>(executor)) {}
  void send(std::string) override {}
  void release(std::chrono::milliseconds) override {}
  Cancellation& cancellation() override { return *cancellation_; }

 private:
  std::shared_ptr<Cancellation> cancellation_;
};

TEST(LegacyAnswer, SubscribesWithTheTokenOfTheRequest) {
  boost::asio::io_context io;
  Following service;
  Session session(ClientSessionId("s"), {}, nullptr);
  NoChannel channel(io.get_executor());
  auto message =
      json::scan(R"({"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://a"}})").value();
  const std::string answer =
      test::run(io, answer_request(message, session, {}, "Bearer one", session.in_flight(), channel, service, {}));
  EXPECT_EQ(answer, R"({"jsonrpc":"2.0","id":1,"result":{}})");
  EXPECT_EQ(service.authorizations, std::vector<std::string>{"Bearer one"});
}

}  // namespace
}  // namespace proteus::server
