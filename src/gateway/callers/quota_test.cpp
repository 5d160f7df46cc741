#include "gateway/callers/quota.hpp"

#include <gtest/gtest.h>

#include "mcp/over_limit.hpp"

namespace proteus::gateway {
namespace {

using namespace std::chrono_literals;

const std::atomic<unsigned> kOne = 1;

// REP-17
TEST(Quota, IsSharedOutAmongProcesses) {
  ManualClock clock;
  RefusalLog refusals(clock);
  QuotaTable table({.requests_per_minute = 4}, refusals);
  QuotaReader reader(table, clock);
  table.set_processes(2);
  EXPECT_TRUE(reader.get("alice").count_request(clock.now()));
  EXPECT_TRUE(reader.get("alice").count_request(clock.now()));
  EXPECT_FALSE(reader.get("alice").count_request(clock.now()));
  table.set_processes(1);
  EXPECT_TRUE(reader.get("bob").count_request(clock.now(), 3));
  EXPECT_TRUE(reader.get("bob").count_request(clock.now(), 3));
  EXPECT_TRUE(reader.get("bob").count_request(clock.now(), 3));
  EXPECT_FALSE(reader.get("bob").count_request(clock.now(), 3));
}

// SEC-07
TEST(Quota, SaysWhenToTryAgain) {
  ManualClock clock;
  RefusalLog refusals(clock);
  Quota quota({.requests_per_minute = 2}, "alice", refusals, kOne);
  EXPECT_TRUE(quota.count_request(clock.now()));
  EXPECT_TRUE(quota.count_request(clock.now()));
  clock.advance(500ms);
  const auto refused = quota.count_request(clock.now());
  ASSERT_FALSE(refused);
  EXPECT_EQ(mcp::retry_after(refused.error()), 30s);
  EXPECT_EQ(refusals.count(RefusalReason::limit), 1);  // OPS-10
}

// SEC-07
TEST(Quota, CountsCallsAndStreamsApart) {
  const ManualClock clock;
  RefusalLog refusals(clock);
  Quota quota({.calls_per_principal = 1, .streams_per_principal = 1}, "alice", refusals, kOne);
  auto call = quota.enter_call();
  ASSERT_TRUE(call);
  EXPECT_FALSE(quota.enter_call());
  EXPECT_TRUE(quota.enter_stream());
  *call = ConcurrencyLimit::Pass();
  EXPECT_TRUE(quota.enter_call());
}

TEST(QuotaTable, IsTheSameForAllWhoHoldIt) {
  ManualClock clock;
  RefusalLog refusals(clock);
  QuotaTable table({.calls_per_principal = 1}, refusals);
  QuotaReader one(table, clock);
  QuotaReader other(table, clock);
  const auto pass = one.get("alice").enter_call();
  EXPECT_FALSE(other.get("alice").enter_call());
  EXPECT_TRUE(other.get("bob").enter_call());
}

// SEC-07
TEST(QuotaTable, KeepsNothingOfThoseWhoLeft) {
  ManualClock clock;
  RefusalLog refusals(clock);
  QuotaTable table({.calls_per_principal = 8, .requests_per_minute = 60}, refusals);
  QuotaReader reader(table, clock);
  const auto pass = reader.get("stays").enter_call();
  for (int i = 0; i < 20'000; ++i) {
    clock.advance(1s);
    EXPECT_TRUE(reader.get("p" + std::to_string(i)).count_request(clock.now()));
  }
  EXPECT_LT(table.size(), 3000U);
  EXPECT_FALSE(reader.get("stays").is_idle(clock.now()));
}

TEST(QuotaTable, LetsGoOfThoseWhoAreIdleWhenTold) {
  ManualClock clock;
  RefusalLog refusals(clock);
  QuotaTable table({.calls_per_principal = 8, .requests_per_minute = 60}, refusals);
  QuotaReader reader(table, clock);
  const auto pass = reader.get("calls").enter_call();
  EXPECT_TRUE(reader.get("asked lately").count_request(clock.now()));
  for (int i = 0; i < 100; ++i)
    reader.get("p" + std::to_string(i));
  reader.drop_idle();
  EXPECT_EQ(table.size(), 2U);
  EXPECT_FALSE(reader.get("calls").is_idle(clock.now()));
  clock.advance(1min);
  reader.drop_idle();
  EXPECT_EQ(table.size(), 1U);
}

}  // namespace
}  // namespace proteus::gateway
