// Records of sessions that end while Redis is away.
#include <thread>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "live/redis_session_records.hpp"
#include "live/session_upkeep.hpp"
#include "live/testing/connected.hpp"

namespace proteus::live {
namespace {

using redis::test::RedisServer;

const ProcessKey kHere = process_key_of("here");
const ProcessKey kThere = process_key_of("there");

class RedisRemovals : public testing::Test {
 protected:
  static redis::ClientOptions impatient(const RedisServer& at) {
    auto options = redis::test::TestClient::options_for(at.url());
    options.answer_timeout = options.ping_every = std::chrono::milliseconds(250);
    return options;
  }
  void wait_until_connected(bool connected) const {
    while (here.client.is_connected() != connected)
      std::this_thread::yield();
  }
  // Redis keeps its records meanwhile.
  void cut_off() const {
    server.signal(SIGSTOP);
    wait_until_connected(false);
  }
  void go_on() const {
    server.signal(SIGCONT);
    wait_until_connected(true);
  }
  bool is_in_redis(const std::string& id) const {
    return server.command({"EXISTS", LiveKeys("pepper").session(id)}).number == 1;
  }
  bool is_absent(const std::string& id) {
    const auto read = proteus::test::run(io, records.read(id));
    return read && !*read;
  }

  boost::asio::io_context io;
  const RedisServer server;
  test::Connected here{impatient(server)};
  RedisSessionRecords records{here.client, LiveKeys("pepper"), {}};
};

// REP-09, REP-13
TEST_F(RedisRemovals, AreMadeUpForWhenRedisIsBack) {
  records.put("ended", {.holder = {kHere, 1}});
  records.put("moved", {.holder = {kThere, 2}});
  here.flush();
  cut_off();
  EXPECT_FALSE(proteus::test::run(io, records.read("ended")));
  records.remove("ended", {kHere, 1});
  records.remove("moved", {kHere, 1});
  EXPECT_TRUE(is_absent("ended"));
  EXPECT_FALSE(proteus::test::run(io, records.remove_again()));
  go_on();
  EXPECT_TRUE(is_in_redis("ended"));
  EXPECT_TRUE(is_absent("ended"));
  EXPECT_FALSE(is_absent("moved"));

  ManualClock clock;
  server::Listeners listeners;
  server::MemoryEventStore events;
  server::Sessions none(clock, listeners, events, {});
  SessionUpkeep upkeep(io, none, here.client, kHere, {.remove_again = [this] { return records.remove_again(); }});
  EXPECT_TRUE(proteus::test::run(io, upkeep.look()));
  EXPECT_FALSE(is_in_redis("ended"));
  EXPECT_TRUE(is_in_redis("moved"));
}

TEST_F(RedisRemovals, AreNotRepeatedIfRedisHasReceivedThem) {
  records.put("id", {.holder = {kHere, 1}});
  records.remove("id", {kHere, 1});
  const auto commands = here.client.figures().commands;
  EXPECT_TRUE(proteus::test::run(io, records.remove_again()));
  EXPECT_TRUE(proteus::test::run(io, records.remove_again()));
  EXPECT_EQ(here.client.figures().commands, commands + 1) << "one that asks whether Redis has received them";
  EXPECT_FALSE(is_in_redis("id"));
}

}  // namespace
}  // namespace proteus::live
