#include "server/testing/event_store_contract.hpp"

namespace proteus::server::test {

INSTANTIATE_TEST_SUITE_P(Memory, EventStoreContract,
                         testing::Values(EventStoreMaker{"memory",
                                                         [](MemoryEventStore::Limits limits) {
                                                           return std::make_unique<MemoryEventStore>(limits);
                                                         }}),
                         [](const auto& tested) { return tested.param.name; });

TEST(MemoryEventStore, TakesNothingWhenAllIsForgotten) {
  MemoryEventStore store;
  for (std::uint64_t i = 1; i <= 100; ++i)
    store.append({"s", i % 7}, i, "x");
  EXPECT_GT(store.bytes(), 0U);
  for (std::uint64_t i = 0; i < 7; ++i)
    store.forget({"s", i});
  EXPECT_EQ(store.bytes(), 0U);
}

}  // namespace proteus::server::test
