#include "server/core/legacy_answer.hpp"

#include <stdexcept>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "base/testing/test_run.hpp"
#include "server/testing/following_service.hpp"

namespace proteus::server {
namespace {

class NoChannel final : public CallChannel {
 public:
  explicit NoChannel(const Executor& executor) : cancellation_(std::make_shared<Cancellation>(executor)) {}
  void send(std::string) override {}
  void release(std::chrono::milliseconds) override {}
  Cancellation& cancellation() override { return *cancellation_; }

 private:
  std::shared_ptr<Cancellation> cancellation_;
};

class LegacyAnswer : public ::testing::Test {
 protected:
  std::string subscribe(std::string_view authorization = {}) {
    NoChannel channel(io.get_executor());
    auto message =
        json::scan(R"({"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://a"}})").value();
    return test::run(io,
                     answer_request(message, session, {}, authorization, session.in_flight(), channel, service, {}));
  }

  static constexpr std::string_view kSubscribed = R"({"jsonrpc":"2.0","id":1,"result":{}})";

  boost::asio::io_context io;
  FollowingService service;
  Session session{ClientSessionId("s"), {}, nullptr};
};

TEST_F(LegacyAnswer, SubscribesWithTheTokenOfTheRequest) {
  EXPECT_EQ(subscribe("Bearer one"), kSubscribed);
  EXPECT_EQ(service.authorizations, std::vector<std::string>{"Bearer one"});
}

TEST_F(LegacyAnswer, SaysThatTheServiceFailedToSubscribe) {
  service.sources = []() -> std::vector<Service::Refused> { throw std::runtime_error("secret"); };
  const std::string answer = subscribe();
  EXPECT_NE(answer.find("-32603"), std::string::npos) << answer;
  EXPECT_EQ(answer.find("secret"), std::string::npos) << answer;
  EXPECT_TRUE(session.subscriptions().empty());
}

TEST_F(LegacyAnswer, KeepsASubscriptionWhoseRepetitionIsRefused) {
  const auto refuse = [] {
    return std::vector<Service::Refused>{{"test://a", errors::unreachable("the upstream is away")}};
  };
  service.sources = refuse;
  EXPECT_NE(subscribe(), kSubscribed);
  EXPECT_TRUE(session.subscriptions().empty()) << "it has never been agreed to";
  service.sources = nullptr;
  EXPECT_EQ(subscribe(), kSubscribed);
  service.sources = refuse;
  EXPECT_NE(subscribe(), kSubscribed);
  EXPECT_EQ(session.subscriptions(), std::vector<std::string>{"test://a"});
}

}  // namespace
}  // namespace proteus::server
