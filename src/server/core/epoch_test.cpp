// Two processes that both believe they have a session.
#include <set>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "base/testing/test_run.hpp"
#include "server/core/outbox.hpp"
#include "server/core/session.hpp"

namespace proteus::server {
namespace {

class Epochs : public ::testing::Test {
 protected:
  // The id of a request to the client, and of the event that contains the request.
  struct Asked {
    std::string request;
    std::string event;
  };
  Asked ask(Session& session) {
    auto outbox = std::make_shared<Outbox>(io.get_executor());
    proteus::test::run(io, session.standalone()->attach(outbox, std::nullopt));
    boost::asio::co_spawn(
        io,
        ClientRequests::ask(session.shared_client_requests(), {"", mcp::Method::list_roots, "{}"}, session.outside(),
                            std::chrono::minutes(1)),
        [this](const std::exception_ptr&, const Result<std::string>& answer) { answered += answer ? 1 : 0; });
    io.restart();
    io.poll();
    std::string text;
    for (const auto& frame : outbox->take())
      text += frame;
    const auto between = [&](std::string_view left, std::string_view right) {
      const std::size_t from = text.find(left) + left.size();
      return text.substr(from, text.find(right, from) - from);
    };
    return {between(R"("id":)", ","), between("id: ", "\n")};
  }
  bool answer(Session& session, const std::string& id) {
    const std::string text = R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"roots":[]}})";
    const bool taken = session.client_requests().resolve(json::scan(text).value());
    io.restart();
    io.poll();
    return taken;
  }

  boost::asio::io_context io;
  MemoryEventStore events;
  int answered = 0;
};

// REP-12
TEST_F(Epochs, AnAnswerToOneOwnerConfirmsNothingToAnother) {
  Session one(ClientSessionId("s"), {}, &events, nullptr, nullptr, new_epoch());
  Session other(ClientSessionId("s"), {}, &events, nullptr, nullptr, new_epoch());
  const Asked first = ask(one);
  const Asked second = ask(other);
  EXPECT_NE(first.request, second.request);
  EXPECT_FALSE(answer(other, first.request));
  EXPECT_FALSE(answer(one, second.request));
  EXPECT_EQ(answered, 0);
  EXPECT_TRUE(answer(one, first.request));
  EXPECT_EQ(answered, 1);
}

// REP-12
TEST_F(Epochs, EventsOfOneOwnerAreNotThoseOfAnother) {
  Session one(ClientSessionId("s"), {}, &events, nullptr, nullptr, new_epoch());
  Session other(ClientSessionId("s"), {}, &events, nullptr, nullptr, new_epoch());
  const auto id = parse_event_id(ask(one).event).value();
  EXPECT_EQ(one.find_stream(id.stream), one.standalone());
  EXPECT_EQ(other.find_stream(id.stream), nullptr);
  const auto stream = one.new_stream();
  EXPECT_EQ(one.find_stream(stream->id()), stream);
  EXPECT_EQ(other.find_stream(stream->id()), nullptr);
}

TEST_F(Epochs, NumbersStayWhatTheyWereWithoutOthers) {
  Session session(ClientSessionId("s"), {}, &events);
  const Asked asked = ask(session);
  EXPECT_EQ(asked.request, "1");
  EXPECT_EQ(asked.event, "0-1");
  EXPECT_EQ(session.new_stream()->id(), 1U);
}

TEST_F(Epochs, NumbersOfRequestsAreExactForClientsThatKnowOnlyDoubles) {
  std::set<Epoch> drawn;
  for (int i = 0; i < 1000; ++i) {
    const Epoch epoch = new_epoch();
    EXPECT_TRUE(drawn.insert(epoch).second);
    EXPECT_GT(epoch, 0U);
    EXPECT_LT(first_request_of(epoch) + (1U << 20U), std::uint64_t{1} << 53U);
  }
}

}  // namespace
}  // namespace proteus::server
