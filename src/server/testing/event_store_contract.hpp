#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing/test_run.hpp"
#include "server/core/event_store.hpp"

// Tests what every event store must do. An implementation instantiates `EventStoreContract` with a maker that respects
// the limits that it is given. Must be included only once in a test program.
namespace proteus::server::test {

struct EventStoreMaker {
  std::string name;
  std::function<std::unique_ptr<EventStore>(MemoryEventStore::Limits)> make;

  friend void PrintTo(const EventStoreMaker& maker, std::ostream* out) { *out << maker.name; }  // NOLINT
};

class EventStoreContract : public testing::TestWithParam<EventStoreMaker> {
 protected:
  std::unique_ptr<EventStore> make(MemoryEventStore::Limits limits) { return GetParam().make(limits); }
  std::vector<KeptEvent> read(EventStore& store, EventStreamId stream, std::uint64_t after) {
    return proteus::test::run(io_, store.read_after(std::move(stream), after)).value();
  }
  // Returns only the numbers, as text.
  std::string numbers(EventStore& store, EventStreamId stream, std::uint64_t after) {
    std::string out;
    for (const auto& event : read(store, std::move(stream), after))
      out += std::to_string(event.number) + " ";
    return out;
  }

 private:
  boost::asio::io_context io_;
};

// SES-21
TEST_P(EventStoreContract, GivesWhatFollowsAnEventInOrder) {
  const auto store = make({});
  for (std::uint64_t i = 1; i <= 5; ++i)
    store->append({"s", 1}, i, "event " + std::to_string(i));
  EXPECT_EQ(numbers(*store, {"s", 1}, 0), "1 2 3 4 5 ");
  EXPECT_EQ(numbers(*store, {"s", 1}, 3), "4 5 ");
  EXPECT_EQ(numbers(*store, {"s", 1}, 5), "");
  EXPECT_EQ(read(*store, {"s", 1}, 4).at(0).message, "event 5");
}

// SES-21
TEST_P(EventStoreContract, MixesNeitherStreamsNorSessions) {
  const auto store = make({});
  store->append({"s", 1}, 1, "a");
  store->append({"s", 2}, 1, "b");
  store->append({"t", 1}, 1, "c");
  EXPECT_EQ(read(*store, {"s", 1}, 0).at(0).message, "a");
  EXPECT_EQ(read(*store, {"s", 2}, 0).at(0).message, "b");
  EXPECT_EQ(read(*store, {"t", 1}, 0).at(0).message, "c");
  EXPECT_EQ(numbers(*store, {"t", 2}, 0), "");
}

TEST_P(EventStoreContract, KeepsAnyBytesAsTheyAre) {
  const auto store = make({});
  const std::string odd("\0\r\n\xff{}", 6);
  store->append({"s", 1}, 1, odd);
  store->append({"s", 1}, 2, "");
  EXPECT_EQ(read(*store, {"s", 1}, 0).at(0).message, odd);
  EXPECT_EQ(read(*store, {"s", 1}, 1).at(0).message, "");
}

// SES-21
TEST_P(EventStoreContract, GivesUpTheOldestOfAStreamThatIsTooLong) {
  const auto by_count = make({.events_per_stream = 3});
  for (std::uint64_t i = 1; i <= 10; ++i)
    by_count->append({"s", 1}, i, "x");
  EXPECT_EQ(numbers(*by_count, {"s", 1}, 0), "8 9 10 ");

  const auto by_size = make({.bytes_per_stream = 10'000});
  for (std::uint64_t i = 1; i <= 10; ++i)
    by_size->append({"s", 1}, i, std::string(3000, 'x'));
  EXPECT_EQ(numbers(*by_size, {"s", 1}, 0), "8 9 10 ");
}

// SES-21, SEC-03
TEST_P(EventStoreContract, IsBoundedInAllAndLeavesNoHoles) {
  const auto store = make({.bytes = 400'000});
  for (std::uint64_t i = 1; i <= 100; ++i) {
    for (int session = 0; session < 50; ++session)
      store->append({"s" + std::to_string(session), 1}, i, std::string(1000, 'x'));
  }
  std::size_t kept = 0;
  for (int session = 0; session < 50; ++session) {
    const auto events = read(*store, {"s" + std::to_string(session), 1}, 0);
    kept += events.size() * 1000;
    for (std::size_t i = 0; i < events.size(); ++i)
      EXPECT_EQ(events[i].number, 101 - events.size() + i);
  }
  EXPECT_LE(kept, 400'000U);
  EXPECT_GT(kept, 0U);
}

TEST_P(EventStoreContract, ForgetsAStream) {
  const auto store = make({});
  store->append({"s", 1}, 1, "a");
  store->append({"s", 2}, 1, "b");
  store->forget({"s", 1});
  store->forget({"s", 1});
  EXPECT_EQ(numbers(*store, {"s", 1}, 0), "");
  EXPECT_EQ(numbers(*store, {"s", 2}, 0), "1 ");
}

TEST_P(EventStoreContract, TakesEventsOfManyThreads) {
  const auto store = make({});
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&store, t] {
      for (std::uint64_t i = 1; i <= 500; ++i)
        store->append({"s", static_cast<std::uint64_t>(t)}, i, "x");
    });
  }
  for (auto& thread : threads)
    thread.join();
  for (std::uint64_t t = 0; t < 4; ++t)
    EXPECT_EQ(read(*store, {"s", t}, 0).size(), 500U);
}

}  // namespace proteus::server::test
