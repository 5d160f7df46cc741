#include "server/core/session_stream.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/core/call.hpp"

namespace proteus::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Unheard = SessionStream::Unheard;

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
  mcp::Request request;
  Caller caller;
  KeptMessages channel{io.get_executor()};
  Call call{request, caller, channel};
};

TEST_F(OutsideOfCalls, GoesToTheStandaloneStreamWhereThereIsOne) {
  open_standalone();
  const SessionStream::Way way(stream, call, io.get_executor());
  stream->send(R"({"a":1})", Unheard::dropped);
  stream->send(R"({"b":2})", Unheard::waits);
  run();
  EXPECT_THAT(outbox->take(), ElementsAre(HasSubstr(R"({"a":1})"), HasSubstr(R"({"b":2})")));
  EXPECT_THAT(channel.messages, IsEmpty());
}

TEST_F(OutsideOfCalls, TakesTheStreamOfACallWhereThereIsNone) {
  const SessionStream::Way way(stream, call, io.get_executor());
  stream->send("{\n}", Unheard::dropped);
  run();
  EXPECT_THAT(channel.messages, ElementsAre("{ }"));
}

TEST_F(OutsideOfCalls, KeepsAQuestionForTheNextCallOrStream) {
  stream->send("dropped", Unheard::dropped);
  stream->send("first", Unheard::waits);
  {
    const SessionStream::Way way(stream, call, io.get_executor());
    EXPECT_THAT(channel.messages, ElementsAre("first"));
    stream->send("second", Unheard::waits);
  }
  // The call has ended before its thread came to it.
  run();
  EXPECT_THAT(channel.messages, ElementsAre("first"));
  open_standalone();
  EXPECT_THAT(outbox->take(), ElementsAre(HasSubstr("second")));
}

TEST_F(OutsideOfCalls, KeepsWhatWasToldForAClientThatComesBack) {
  open_standalone();
  outbox->close();
  stream->send("meanwhile", Unheard::dropped);
  const auto again = std::make_shared<Outbox>(io.get_executor());
  boost::asio::co_spawn(io, standalone->attach(again, std::nullopt), boost::asio::detached);
  run();
  EXPECT_THAT(again->take(), ElementsAre(HasSubstr("meanwhile")));
}

}  // namespace
}  // namespace proteus::server
