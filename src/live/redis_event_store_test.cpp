#include "live/redis_event_store.hpp"

#include <thread>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/testing/connected.hpp"
#include "server/testing/event_store_contract.hpp"

namespace proteus::live {
namespace {

using live::test::Connected;
using redis::test::RedisServer;
using redis::test::shared_server;
using server::EventStreamId;
using server::KeptEvent;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// What one process keeps, as another process sees it.
class SeenFromElsewhere final : public server::EventStore {
 public:
  SeenFromElsewhere(const RedisServer& server, server::MemoryEventStore::Limits limits)
      : here_(server),
        there_(server),
        writer_(here_.client, LiveKeys("pepper"), {.limits = limits}),
        reader_(there_.client, LiveKeys("pepper"), {.limits = limits}) {}

  void append(const EventStreamId& stream, std::uint64_t number, std::string_view message) override {
    writer_.append(stream, number, message);
  }
  void forget(const EventStreamId& stream) override { writer_.forget(stream); }
  Task<Result<std::vector<KeptEvent>>> read_after(EventStreamId stream, std::uint64_t number) override {
    here_.flush();
    auto left = co_await reader_.read_left(std::move(stream));
    if (!left) co_return std::unexpected(left.error());
    if (!*left) co_return std::vector<KeptEvent>();
    std::erase_if((*left)->events, [number](const auto& event) { return event.number <= number; });
    co_return (*left)->events;
  }

 private:
  Connected here_;
  Connected there_;
  RedisEventStore writer_;
  RedisEventStore reader_;
};

// What a process keeps, as it sees it itself.
class OwnEvents final : public server::EventStore {
 public:
  OwnEvents(const RedisServer& server, server::MemoryEventStore::Limits limits)
      : here_(server), store_(here_.client, LiveKeys("pepper"), {.limits = limits}) {}
  void append(const EventStreamId& stream, std::uint64_t number, std::string_view message) override {
    store_.append(stream, number, message);
  }
  void forget(const EventStreamId& stream) override { store_.forget(stream); }
  Task<Result<std::vector<KeptEvent>>> read_after(EventStreamId stream, std::uint64_t number) override {
    return store_.read_after(std::move(stream), number);
  }

 private:
  Connected here_;
  RedisEventStore store_;
};

template <class Store>
server::test::EventStoreMaker maker(std::string name) {
  return {std::move(name),
          [](server::MemoryEventStore::Limits limits) { return std::make_unique<Store>(shared_server(), limits); }};
}

}  // namespace
}  // namespace proteus::live

namespace proteus::server::test {

// REP-10
INSTANTIATE_TEST_SUITE_P(Redis, EventStoreContract,
                         testing::Values(live::maker<live::OwnEvents>("own"),
                                         live::maker<live::SeenFromElsewhere>("from_elsewhere")),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace proteus::server::test

namespace proteus::live {
namespace {

class RedisEvents : public testing::Test {
 protected:
  explicit RedisEvents() : server(shared_server()) {}

  std::optional<server::LeftStream> left(RedisEventStore& store, EventStreamId stream) {
    return proteus::test::run(io, store.read_left(std::move(stream))).value();
  }

  boost::asio::io_context io;
  RedisServer& server;
};

// SEC-03: if Redis accepts nothing, a stream is not sealed again as a whole for each of its events.
TEST_F(RedisEvents, AreNotSentWholeEachTimeWhereNothingIsTaken) {
  auto options = redis::test::TestClient::options_for(server.url());
  options.queued_bytes = 64;
  Connected here(std::move(options));
  RedisEventStore store(here.client, LiveKeys("pepper"), {});
  constexpr std::uint64_t kEvents = 1000;
  for (std::uint64_t number = 1; number <= kEvents; ++number)
    store.append({"full", 7}, number, "an event that is longer than what may wait");
  const auto tried = here.client.figures().dropped / 3;
  EXPECT_GT(tried, 0U);
  EXPECT_LT(tried, 20U);
}

// REP-10
TEST_F(RedisEvents, KeepWhichRequestAStreamAnswers) {
  Connected here(server);
  RedisEventStore store(here.client, LiveKeys("pepper"), {});
  store.begin({"s", 7}, "\"call 1\"");
  here.flush();
  const auto begun = left(store, {"s", 7}).value();
  EXPECT_EQ(begun.request, "\"call 1\"");
  EXPECT_THAT(begun.events, IsEmpty());
  store.append({"s", 7}, 1, "progress");
  here.flush();
  EXPECT_THAT(left(store, {"s", 7})->events, SizeIs(1));
  EXPECT_EQ(left(store, {"s", 8}), std::nullopt);
}

// REP-15
TEST_F(RedisEvents, CannotBeReadByWhoeverReadsRedis) {
  Connected here(server);
  RedisEventStore store(here.client, LiveKeys("pepper"), {});
  store.begin({"session id", 1}, "\"request id\"");
  store.append({"session id", 1}, 1, "a secret message");
  here.flush();
  const auto keys = server.keys();
  ASSERT_THAT(keys, SizeIs(1));
  EXPECT_THAT(keys[0], testing::StartsWith("proteus:1:events:"));
  EXPECT_THAT(keys[0], Not(HasSubstr("session id")));
  for (const auto& element : server.command({"HGETALL", keys[0]}).elements) {
    EXPECT_THAT(element.text, Not(HasSubstr("secret")));
    EXPECT_THAT(element.text, Not(HasSubstr("request id")));
  }
  RedisEventStore stranger(here.client, LiveKeys("another pepper"), {});
  EXPECT_EQ(left(stranger, {"session id", 1}), std::nullopt);
}

// REP-15
TEST_F(RedisEvents, CannotBeMadeOrMovedByWhoeverWritesThere) {
  Connected here(server);
  RedisEventStore store(here.client, LiveKeys("pepper"), {});
  for (std::uint64_t i = 1; i <= 4; ++i)
    store.append({"s", 1}, i, "event " + std::to_string(i));
  store.append({"t", 1}, 1, "of another session");
  here.flush();
  const LiveKeys keys("pepper");
  const std::string one = keys.events("s", 1);
  const std::string other = server.command({"HGET", keys.events("t", 1), "1"}).text;

  // Events that were invented, or copied from another stream or from another place in this one.
  server.command({"HSET", one, "5", "invented"});
  server.command({"HSET", one, "6", other});
  server.command({"HSET", one, "7", server.command({"HGET", one, "2"}).text});
  server.command({"HSET", one, "r", server.command({"HGET", one, "2"}).text});
  auto now = left(store, {"s", 1}).value();
  EXPECT_EQ(now.request, "");
  ASSERT_THAT(now.events, SizeIs(4));
  EXPECT_EQ(now.events.back(), (KeptEvent{4, "event 4"}));

  // A changed event counts as missing, and so do the events before it.
  server.command({"HSET", one, "2", "x"});
  now = left(store, {"s", 1}).value();
  ASSERT_THAT(now.events, SizeIs(2));
  EXPECT_EQ(now.events.front().number, 3U);

  server.command({"DEL", one});
  server.command({"SET", one, "of another type"});
  EXPECT_FALSE(proteus::test::run(io, store.read_left({"s", 1})));
}

TEST_F(RedisEvents, Expire) {
  Connected here(server);
  RedisEventStore store(here.client, LiveKeys("pepper"), {.expiry = std::chrono::milliseconds(60'000)});
  store.begin({"s", 1}, "1");
  store.append({"s", 2}, 1, "x");
  here.flush();
  for (const auto& key : server.keys()) {
    const auto left_ms = server.command({"PTTL", key}).number;
    EXPECT_GT(left_ms, 0);
    EXPECT_LE(left_ms, 60'000);
  }
  store.forget({"s", 1});
  store.forget({"s", 2});
  here.flush();
  EXPECT_THAT(server.keys(), IsEmpty());
}

TEST_F(RedisEvents, LeaveOutWhatIsTooLarge) {
  Connected here(server);
  RedisEventStore store(here.client, LiveKeys("pepper"), {.limits = {.bytes_per_stream = 10'000}});
  store.append({"s", 1}, 1, "small");
  store.append({"s", 1}, 2, std::string(20'000, 'x'));
  here.flush();
  const auto gap = left(store, {"s", 1});
  EXPECT_TRUE(!gap || gap->events.empty() || gap->events.back().number < 2);
  EXPECT_THAT(proteus::test::run(io, store.read_after({"s", 1}, 1)).value(), SizeIs(1));
  store.append({"s", 1}, 3, "small again");
  here.flush();
  EXPECT_THAT(left(store, {"s", 1})->events, SizeIs(1));
}

// REP-13
TEST_F(RedisEvents, AreCopiedAnewOnceRedisIsKnownToHaveLostThem) {
  Connected here(server);
  RedisEventStore store(here.client, LiveKeys("pepper"), {});
  store.append({"s", 1}, 1, "before");
  here.flush();
  server.command({"FLUSHALL"});
  here.client.renew();
  store.append({"s", 1}, 2, "after");
  here.flush();
  EXPECT_THAT(left(store, {"s", 1})->events, SizeIs(2));
}

// REP-13: a Redis that has no room refuses what it was sent, and says so only later.
TEST(RedisEventsWithoutRoom, AreCopiedAsAWholeSoonAfterThereIsRoom) {
  const RedisServer server;
  Connected here(server);
  boost::asio::io_context io;
  RedisEventStore store(here.client, LiveKeys("pepper"), {});
  server.command({"CONFIG", "SET", "maxmemory", "1"});
  store.begin({"s", 1}, "\"call 1\"");
  store.append({"s", 1}, 1, "refused");
  here.flush();
  EXPECT_GT(here.client.refused(), 0U);
  server.command({"CONFIG", "SET", "maxmemory", "0"});
  store.append({"s", 1}, 2, "event");
  store.append({"s", 1}, 3, "event");
  here.flush();
  const auto copied = proteus::test::run(io, store.read_left({"s", 1})).value().value();
  EXPECT_EQ(copied.request, "\"call 1\"");
  EXPECT_THAT(copied.events, SizeIs(3));
}

// REP-13: a Redis that was only cut off still has what was copied before.
TEST(RedisEventsWithoutRedis, LeaveNothingBehindThatMemoryDropsMeanwhile) {
  RedisServer server;
  auto options = redis::test::TestClient::options_for(server.url());
  options.answer_timeout = options.ping_every = std::chrono::milliseconds(100);
  Connected here(std::move(options));
  RedisEventStore store(here.client, LiveKeys("pepper"), {.limits = {.events_per_stream = 3}});
  const auto append = [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t number = first; number <= last; ++number)
      store.append({"s", 1}, number, "event");
  };
  append(1, 3);
  here.flush();
  server.signal(SIGSTOP);
  while (here.client.is_connected())
    std::this_thread::yield();
  append(4, 6);
  server.signal(SIGCONT);
  while (!here.client.is_connected())
    std::this_thread::yield();
  append(7, 7);
  here.flush();
  EXPECT_EQ(server.command({"HLEN", LiveKeys("pepper").events("s", 1)}).number, 3);
}

// REP-13
TEST(RedisEventsWithoutRedis, AreKeptInMemoryAndCopiedWhenItIsBack) {
  RedisServer server;
  Connected here(server);
  boost::asio::io_context io;
  RedisEventStore store(here.client, LiveKeys("pepper"), {});
  store.append({"s", 1}, 1, "before");
  here.flush();
  server.stop();
  while (here.client.is_connected())
    std::this_thread::yield();
  store.append({"s", 1}, 2, "meanwhile");
  EXPECT_THAT(proteus::test::run(io, store.read_after({"s", 1}, 0)).value(), SizeIs(2));
  EXPECT_FALSE(proteus::test::run(io, store.read_left({"s", 1})));

  server.start();
  while (!here.client.is_connected())
    std::this_thread::yield();
  EXPECT_EQ(proteus::test::run(io, store.read_left({"s", 1})).value(), std::nullopt);
  store.append({"s", 1}, 3, "after");
  here.flush();
  const auto copied = proteus::test::run(io, store.read_left({"s", 1})).value().value();
  EXPECT_THAT(copied.events,
              testing::ElementsAre(KeptEvent{1, "before"}, KeptEvent{2, "meanwhile"}, KeptEvent{3, "after"}));
}

}  // namespace
}  // namespace proteus::live
