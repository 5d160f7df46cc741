#include "client/connection/questions.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "base/testing/test_run.hpp"
#include "client/testing/test_support.hpp"

namespace proteus::client {
namespace {

using namespace std::chrono_literals;

// Accepts everything that is sent and never answers.
class Silent final : public Transport {
 public:
  Task<Result<>> start() override { co_return Result<>{}; }
  bool usable() const override { return true; }
  Task<Result<Reply>> exchange(const Outgoing&) override { co_return std::unexpected(errors::cancelled("it")); }
  Task<Result<>> send(const Outgoing& message) override {
    for (const std::string_view part : message.parts)
      sent += part;
    co_return Result<>{};
  }
  void speak(mcp::Version) override {}
  Task<Result<>> listen(std::function<void()>) override { co_return std::unexpected(errors::unsupported("it")); }
  bool has_headers() const override { return false; }
  bool has_streams() const override { return true; }
  Task<> close() override { co_return; }

  std::string sent;
};

TEST(Questions, CostTheRequestTheyAreAskedForNoTime) {
  boost::asio::io_context io;
  InFlightTable table;
  const RequestOptions request;
  Deadline deadline(io.get_executor(), 1h, {});
  const InFlightTable::Entry entry(table, {7, deadline, request});
  bool stood_still = false;
  Options options = test::quick();
  options.handlers.elicit_form = [&](Question) -> Task<Result<std::string>> {
    stood_still = !deadline.left();
    co_return R"({"action":"decline"})";
  };
  TaskGroup tasks(io.get_executor());
  Questions questions(io.get_executor(), options, table, tasks);
  const auto transport = std::make_shared<Silent>();
  const std::string question = R"({"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?"}})";
  ASSERT_TRUE(deadline.left());
  questions.on_request(Received::scan(question, {}).value(), 7, transport);
  proteus::test::run(io, tasks.join());
  EXPECT_EQ(transport->sent, R"({"jsonrpc":"2.0","id":1,"result":{"action":"decline"}})");
  EXPECT_TRUE(stood_still);
  EXPECT_TRUE(deadline.left());
}

}  // namespace
}  // namespace proteus::client
