#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "base/testing/test_run.hpp"
#include "server/core/event_store.hpp"

// What every event store must do. An implementation proves it by instantiating `EventStoreContract` with a maker that
// keeps to the bounds it is given; the tests themselves are in event_store_contract_test.cpp.
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
  // The numbers alone, as text.
  std::string numbers(EventStore& store, EventStreamId stream, std::uint64_t after) {
    std::string out;
    for (const auto& event : read(store, std::move(stream), after))
      out += std::to_string(event.number) + " ";
    return out;
  }

 private:
  boost::asio::io_context io_;
};

}  // namespace proteus::server::test
