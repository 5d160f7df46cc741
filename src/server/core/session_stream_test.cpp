#include "server/core/session_stream.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/test_run.hpp"
#include "server/core/call.hpp"
#include "server/core/client_requests.hpp"

namespace proteus::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class KeptMessages final : public CallChannel {
 public:
  explicit KeptMessages(const Executor& executor) : cancellation_(executor) {}
  void send(std::string message) override { messages.push_back(std::move(message)); }
  void release(std::chrono::milliseconds) override {}
  Cancellation& cancellation() override { return cancellation_; }

  std::vector<std::string> messages;

 private:
  Cancellation cancellation_;
};

// PRO-21, BRG-13
class OutsideOfCalls : public ::testing::Test {
 protected:
  void open_standalone() {
    outbox = std::make_shared<Outbox>(io.get_executor());
    standalone->begin(outbox, ReplayStream::Prime::no);
    stream->opened();
  }
  void run() {
    io.restart();
    io.run();
  }

  boost::asio::io_context io;
  MemoryEventStore store;
  std::shared_ptr<ReplayStream> standalone = std::make_shared<ReplayStream>(EventStreamId{"session", 0}, &store);
  std::shared_ptr<SessionStream> stream = std::make_shared<SessionStream>(standalone, nullptr);
  std::shared_ptr<Outbox> outbox;
  const std::shared_ptr<int> asker = std::make_shared<int>(0);
  mcp::Request request;
  Caller caller;
  KeptMessages channel{io.get_executor()};
  Call call{request, caller, channel};
};

TEST_F(OutsideOfCalls, GoesToTheStandaloneStreamWhereThereIsOne) {
  open_standalone();
  const SessionStream::Way way(stream, call, io.get_executor());
  stream->send(R"({"a":1})");
  stream->ask(R"({"b":2})", asker);
  run();
  EXPECT_THAT(outbox->take(), ElementsAre(HasSubstr(R"({"a":1})"), HasSubstr(R"({"b":2})")));
  EXPECT_THAT(channel.messages, IsEmpty());
}

TEST_F(OutsideOfCalls, TakesTheStreamOfACallWhereThereIsNone) {
  const SessionStream::Way way(stream, call, io.get_executor());
  stream->send("{\n}");
  run();
  EXPECT_THAT(channel.messages, ElementsAre("{ }"));
}

TEST_F(OutsideOfCalls, KeepsAQuestionForTheNextCallOrStream) {
  stream->send("dropped");
  stream->ask("first", asker);
  {
    const SessionStream::Way way(stream, call, io.get_executor());
    EXPECT_THAT(channel.messages, ElementsAre("first"));
    stream->ask("second", asker);
  }
  // The call ends before its thread handles the message.
  run();
  EXPECT_THAT(channel.messages, ElementsAre("first"));
  open_standalone();
  EXPECT_THAT(outbox->take(), ElementsAre(HasSubstr("second")));
}

TEST_F(OutsideOfCalls, KeepsWhatWasToldForAClientThatComesBack) {
  open_standalone();
  outbox->close();
  stream->send("meanwhile");
  const auto again = std::make_shared<Outbox>(io.get_executor());
  boost::asio::co_spawn(io, standalone->attach(again, std::nullopt), boost::asio::detached);
  run();
  EXPECT_THAT(again->take(), ElementsAre(HasSubstr("meanwhile")));
}

TEST_F(OutsideOfCalls, SendsNoQuestionOfWhichTheAskerHasGivenUp) {
  const auto requests = std::make_shared<ClientRequests>();
  const auto answer = proteus::test::run(
      io, ClientRequests::ask(requests, {"", mcp::Method::list_roots, "{}", {}}, stream, std::chrono::milliseconds(1)));
  EXPECT_EQ(answer.error().kind(), ErrorKind::timeout);
  open_standalone();
  EXPECT_THAT(outbox->take(), IsEmpty());
}

// A transport with a single stream.
class OneLine final : public SessionLine {
 public:
  void deliver(std::string message) override { delivered.push_back(std::move(message)); }
  void announce(std::string message) override { announced.push_back(std::move(message)); }
  bool is_open() override { return true; }
  void end() override {}

  std::vector<std::string> delivered;
  std::vector<std::string> announced;
};

// PRO-21: two equal log messages are two.
TEST_F(OutsideOfCalls, LetsOnlyAnnouncementsBeDropped) {
  const auto line = std::make_shared<OneLine>();
  const auto single = std::make_shared<SessionStream>(standalone, line);
  single->announce("changed");
  single->send("logged");
  single->ask("question", asker);
  EXPECT_THAT(line->announced, ElementsAre("changed"));
  EXPECT_THAT(line->delivered, ElementsAre("logged", "question"));
}

}  // namespace
}  // namespace proteus::server
