// Tool sessions in succession, and across a restart.
#include <gmock/gmock.h>

#include "admin/testing/session_fixture.hpp"
#include "gateway/testing/session_upstream.hpp"
#include "store/testing/full_store.hpp"

namespace proteus::admin::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(SessionsAtALegacyUpstream, LeaveNothingForTheNextUserOfTheirId) {
  gateway::test::SessionUpstream upstream;
  store::MemoryStore store;
  SessionFixture fixture(store);
  fixture.ask("POST", "/admin/upstreams",
              {{"name", "private"},
               {"url", fmt::format("http://127.0.0.1:{}/mcp", upstream.port())},
               {"prefix", ""},
               {"refresh_strategy", "direct_proxy"}});
  fixture.refresh("private");
  const auto resources = [&](std::string_view token) { return std::string(fixture.mcp(token, "resources/list").body); };
  fixture.init("chat", "tok_first");
  // Calls often enough for all workers, each of which has its own connections.
  for (int i = 0; i < 8; ++i)
    ASSERT_EQ(fixture.call_as("tok_first", "make", "{}").status, 200);
  wait_until([&] { return resources("tok_first").contains("test://own"); });
  fixture.cleanup("chat");
  ASSERT_EQ(fixture.init("chat", "tok_next").status, 200);
  for (int i = 0; i < 8; ++i) {
    EXPECT_THAT(resources("tok_next"), AllOf(HasSubstr("test://shared"), Not(HasSubstr("test://own"))));
  }
  fixture.cleanup("chat");
  wait_until([&] { return upstream.sessions() == 1; });  // that of the discovery
}

// SES-17, SES-22
TEST(SessionsOverARestart, KeepTheTimeOfTheirLastUse) {
  store::MemoryStore store;
  {
    SessionFixture fixture(store);
    fixture.init("a", "tok_a");
    fixture.init("b", "tok_b");
    fixture.clock.skip(std::chrono::minutes(20));
    fixture.tools_of("tok_a");
  }
  SessionFixture fixture(store);
  // The second clock starts where the first one began, so a use after that counts as a use now.
  fixture.clock.skip(std::chrono::minutes(29));
  EXPECT_EQ(fixture.status_for("tok_a"), 200);
  fixture.clock.skip(std::chrono::minutes(2));
  EXPECT_EQ(fixture.status_for("tok_b"), 401);
  EXPECT_EQ(fixture.status_for("tok_a"), 200);
}

TEST(SessionsOverARestart, LeaveATokenToTheOneThatUsedItLast) {
  store::MemoryStore store;
  {
    SessionFixture fixture(store);
    fixture.init("z", "tok");
    fixture.add("z", {tool_text("old", fixture.backend.url())});
    fixture.clock.skip(std::chrono::minutes(31));
    ASSERT_EQ(fixture.init("b", "tok").status, 200) << "nobody has it any more";
    fixture.add("b", {tool_text("new", fixture.backend.url())});
  }
  SessionFixture fixture(store);
  EXPECT_THAT(fixture.tools_of("tok"), ElementsAre("new"));
}

// SES-22
TEST(SessionsOverARestart, OutliveAWallClockThatWasSetBack) {
  store::MemoryStore store;
  {
    SessionFixture fixture(store);
    fixture.init("before", "tok_before");
    fixture.clock.set_back(std::chrono::hours(24 * 365));
    fixture.init("after", "tok_after");
    fixture.tools_of("tok_before");
  }
  SessionFixture fixture(store);
  EXPECT_EQ(fixture.status_for("tok_before"), 200);
  EXPECT_EQ(fixture.status_for("tok_after"), 200);
}

// SES-16, OPS-08
TEST(SessionsOnAFullDisk, LoseTheirTokenAtOnceAndTheirRecordLater) {
  store::test::FullStore store;
  SessionFixture fixture(store);
  fixture.init("s", "tok");
  fixture.add("s", {tool_text("one", fixture.backend.url())});
  store.full = true;
  const auto gone = fixture.cleanup("s");
  EXPECT_EQ(gone.status, 200);
  EXPECT_EQ(gone.json(), boost::json::parse(R"({"session_id":"s","removed":1,"durable":false})"));
  EXPECT_EQ(fixture.status_for("tok"), 401);
  EXPECT_EQ(fixture.cleanup("s").json().at("durable"), false) << "it still is not";

  store.full = false;
  fixture.run(fixture.sessions.look_over());
  EXPECT_TRUE(fixture.run(store.kept.tool_sessions()).value().empty());
  EXPECT_EQ(fixture.cleanup("s").json(), boost::json::parse(R"({"session_id":"s","removed":0})"));
}

TEST(SessionsOnAFullDisk, MayComeBackBeforeTheStoreHeardThatTheyLeft) {
  store::test::FullStore store;
  SessionFixture fixture(store);
  fixture.init("s", "tok");
  store.full = true;
  fixture.cleanup("s");
  store.full = false;
  ASSERT_EQ(fixture.init("s", "tok_new").status, 200);
  fixture.run(fixture.sessions.look_over());
  EXPECT_EQ(fixture.status_for("tok_new"), 200);
  EXPECT_EQ(fixture.run(store.kept.tool_sessions()).value().size(), 1U);
}

// A session with a tool, and its user, who may have something under way when the session ends.
class SessionsInUse : public ::testing::Test {
 protected:
  SessionsInUse() {
    bench_.init("s", "tok");
    bench_.add("s", {tool_text("run_query", bench_.backend.url())});
  }

  static std::string fields() { return server::modern_fields("tools/call", "run_query") + bearer("tok"); }
  static std::string body() {
    return server::rpc("1", "tools/call", R"("name":"run_query","arguments":{"query":"x"},)" + server::modern_meta());
  }
  // Sends the head of a call, and its body after `then`. Returns the status of the answer.
  template <class Then>
  int status_after(Then&& then) {
    RawClient slow(bench_.server.local_port());
    slow.send_request("POST", fields() + fmt::format("Content-Type: application/json\r\nExpect: 100-continue\r\n"
                                                     "Content-Length: {}\r\n",
                                                     body().size()));
    EXPECT_EQ(slow.read_answer().status, 100) << "it was admitted";
    then();
    slow.send(body());
    return slow.read_answer().status;
  }

  store::MemoryStore store_;
  SessionFixture bench_{store_};
};

// SES-17, SEC-05
TEST_F(SessionsInUse, RunNothingForARequestWhoseBodyComesAfterTheirEnd) {
  EXPECT_EQ(status_after([&] { bench_.cleanup("s"); }), 401);
  EXPECT_TRUE(bench_.backend.asked().empty());
}

// SES-17, SEC-05
TEST_F(SessionsInUse, RunNothingForARequestWhoseBodyComesAfterTheirTokenHasChanged) {
  EXPECT_EQ(status_after([&] { bench_.init("s", "tok_next"); }), 401);
  EXPECT_TRUE(bench_.backend.asked().empty());
  EXPECT_EQ(bench_.call_as("tok_next", "run_query").status, 200);
}

// SES-17
TEST_F(SessionsInUse, CancelTheirCallsWhenTheyEnd) {
  bench_.backend.hold("/fetch");
  RawClient client(bench_.server.local_port());
  client.send_request("POST", fields(), body());
  wait_until([&] { return !bench_.backend.asked().empty(); });
  bench_.cleanup("s");
  EXPECT_THAT(client.read_answer().body, HasSubstr("the session has ended"));
  wait_until([&] { return bench_.backend.abandoned() == 1; });
  bench_.backend.release();
}

}  // namespace
}  // namespace proteus::admin::test
