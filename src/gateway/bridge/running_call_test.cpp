#include "gateway/bridge/running_call.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proteus::gateway {
namespace {

namespace asio = boost::asio;

client::Question question(std::string params = R"({"message":"?","requestedSchema":{"type":"object"}})") {
  return {mcp::Method::elicit, std::move(params)};
}

class Running : public ::testing::Test {
 protected:
  asio::io_context io;
  mcp::ClientCapabilities everything = [] {
    mcp::ClientCapabilities client;
    client.elicitation_form = client.elicitation_url = client.sampling = client.roots = true;
    return client;
  }();
  std::shared_ptr<RunningCall> call = std::make_shared<RunningCall>(io.get_executor(), everything);

  template <class T>
  T run(Task<T> task) {
    auto result = asio::co_spawn(io, std::move(task), asio::use_future);
    io.restart();
    io.run();
    return result.get();
  }
  Result<std::string> ask(client::Question asked) {
    const auto handlers = call->handlers();
    return run(client::ask(*handlers, std::move(asked)));
  }
};

// BRG-05, BRG-06
TEST_F(Running, CutsOffAnUpstreamThatNeverHasEnough) {
  call = std::make_shared<RunningCall>(io.get_executor(), mcp::ClientCapabilities{});
  int refused = 0;
  while (ask(question()).error().kind() == ErrorKind::unsupported)
    ASSERT_LT(++refused, 10'000);
  EXPECT_EQ(refused, 256);
  EXPECT_EQ(ask(question()).error().kind(), ErrorKind::exhausted);
}

// BRG-06
TEST_F(Running, RefusesAQuestionThatIsTooLarge) {
  const std::string huge(std::size_t{2} << 20U, 'x');
  EXPECT_EQ(ask(question(R"({"message":")" + huge + R"(","requestedSchema":{"type":"object"}})")).error().kind(),
            ErrorKind::too_large);
}

// BRG-03: answers to questions that were not asked yet are kept for later, within a limit
TEST_F(Running, KeepsOnlySoMuchThatNobodyAskedFor) {
  const std::string huge = R"({"action":")" + std::string(std::size_t{1} << 20U, 'x') + R"("})";
  auto waiting = asio::co_spawn(
      io, call->wait_for_call(1, {}, {{"small", R"({"action":"accept"})"}, {"zz_huge", huge}}), asio::use_future);
  const auto answered = [this](std::string_view key) {
    const auto handlers = call->handlers();
    auto result = asio::co_spawn(
        io,
        client::ask(*handlers,
                    question(R"({"message":"?","requestedSchema":{"type":"object"},"_meta":{"proteus/inputKey":")" +
                             std::string(key) + R"("}})")),
        asio::use_future);
    io.restart();
    io.poll();
    return result.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  EXPECT_TRUE(answered("small"));
  EXPECT_FALSE(answered("zz_huge")) << "it is asked for again";
  call->cancel();
}

// BRG-09: progress between two rounds, before the client has returned
TEST_F(Running, KeepsTheLatestNotificationsForWhoComesBack) {
  const auto progress = [](int step, std::size_t bytes = 0) {
    return fmt::format(
        R"({{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progress":{},"message":"{}"}}}})", step,
        std::string(bytes, 'x'));
  };
  const auto tell = [&](const std::string& text) { call->notify(*json::scan(text)); };
  const auto heard_by_the_next = [&] {
    std::vector<std::string> steps;
    auto waiting = asio::co_spawn(
        io,
        call->wait_for_call(
            1, [&](const json::Message& message) { steps.emplace_back(message.body.value("progress")); }, {}),
        asio::use_future);
    io.restart();
    io.poll();
    return steps;
  };
  tell(progress(1));
  tell(progress(2));
  EXPECT_THAT(heard_by_the_next(), ::testing::ElementsAre("1", "2"));

  call = std::make_shared<RunningCall>(io.get_executor(), everything);
  for (int step = 1; step <= 1000; ++step)
    tell(progress(step));
  tell(progress(1001, std::size_t{1} << 20U));
  const auto many = heard_by_the_next();
  EXPECT_EQ(many.size(), 64U);
  EXPECT_EQ(many.back(), "1000");

  call = std::make_shared<RunningCall>(io.get_executor(), everything);
  for (int step = 1; step <= 20; ++step)
    tell(progress(step, std::size_t{10} * 1024));
  EXPECT_THAT(heard_by_the_next(), ::testing::ElementsAre("15", "16", "17", "18", "19", "20"));
}

// BRG-01: the upstream answers while no request waits
TEST_F(Running, KeepsTheAnswerForWhoComesBack) {
  const auto answer = []() -> Task<Result<client::Answer>> {
    co_return client::Received::scan(std::string(R"({"jsonrpc":"2.0","id":1,"result":{"content":[]}})"), {});
  };
  asio::co_spawn(io, call->run(answer()), asio::detached);
  io.run();
  const auto news = run(call->wait_for_call(1, {}, {}));
  ASSERT_TRUE(news);
  EXPECT_TRUE(std::holds_alternative<client::Answer>(*news));
}

TEST_F(Running, EndsWithAnErrorIfItsRequestThrows) {
  const auto fail = []() -> Task<Result<client::Answer>> {
    throw std::runtime_error("a fault");
    co_return std::unexpected(errors::cancelled("nothing"));
  };
  asio::co_spawn(io, call->run(fail()), asio::detached);
  auto news = asio::co_spawn(io, call->wait_for_call(1, {}, {}), asio::use_future);
  io.restart();
  io.poll();
  ASSERT_EQ(news.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  EXPECT_EQ(news.get().error().kind(), ErrorKind::internal);
}

}  // namespace
}  // namespace proteus::gateway
