#include <atomic>
#include <thread>

#include <gmock/gmock.h>

#include "store/testing/store_contract.hpp"

// Tests that each process learns of the writes of the others.
namespace proteus::store::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<RecordKey> keys(const FeedPage& page) {
  std::vector<RecordKey> all;
  for (const FeedEntry& entry : page.entries)
    all.push_back(entry.key);
  return all;
}

// REP-02
TEST_P(StoreContract, FeedsEveryWriteThatOthersApply) {
  const std::uint64_t start = get(store().feed(0, 10)).newest;
  PinRecord pin{.upstream = "bank", .kind = "tools", .name = "p", .hash = "1", .definition = "{}", .by = "ada"};
  SealedRecord grant{.kind = "grant", .id = "g", .text = "{}", .updated_at = at(1), .fault = {}};
  const auto written = get(
      store().write({PutUpstream{upstream("bank")}, AppendAudit{audit("add")}, PutSnapshot{snapshot("bank", "tools")},
                     PutPin{pin}, TouchToken{"t", at(1)}, PutSealed{grant}, RemoveToken{"t"}}));
  get(store().write({RemoveUpstream{"bank"}, AppendChange{change("bank")}, RemoveSessionTool{"s", "x"}}));
  const auto page = get(other().feed(start, 10));
  EXPECT_THAT(keys(page),
              ElementsAre(RecordKey{RecordKind::upstream, "bank", ""}, RecordKey{RecordKind::snapshot, "bank", "tools"},
                          RecordKey{RecordKind::pins, "bank", ""}, RecordKey{RecordKind::sealed, "grant", "g"},
                          RecordKey{RecordKind::token, "t", ""}, RecordKey{RecordKind::upstream, "bank", ""},
                          RecordKey{RecordKind::change, "bank", ""}, RecordKey{RecordKind::session_tool, "s", "x"}));
  ASSERT_THAT(page.entries, SizeIs(8));
  for (std::size_t i = 0; i < 8; ++i)
    EXPECT_EQ(page.entries[i].number, start + 1 + i);
  EXPECT_THAT(written.versions, ElementsAre(start + 1, start + 2, start + 3, start + 4, start + 5));
  EXPECT_EQ(page.newest, start + 8);
  EXPECT_THAT(keys(get(store().feed(start + 6, 1))), SizeIs(1));
  EXPECT_THAT(keys(get(store().feed(UINT64_MAX, 10))), IsEmpty());
}

// REP-02
TEST_P(StoreContract, SaysWhatTheFeedHasDropped) {
  const std::uint64_t start = get(store().feed(0, 10)).newest;
  for (int i = 0; i < 100; ++i)
    get(store().put(Setting{"a", std::to_string(i)}));
  const auto page = get(store().feed(start, 1000));
  EXPECT_EQ(page.newest, start + 100);
  EXPECT_GT(page.oldest, start + 1);
  ASSERT_GE(page.entries.size(), 20U);
  EXPECT_EQ(page.entries.front().number, page.oldest);
  EXPECT_EQ(page.entries.back().number, page.newest);
}

TEST_P(StoreContract, FeedsNothingOfAUnitThatFailed) {
  const std::uint64_t start = get(store().feed(0, 10)).newest;
  EXPECT_FALSE(run(store().write({PutUpstream{upstream("bank")}, Expect{{RecordKind::token, "t", ""}, 9}})));
  EXPECT_EQ(get(store().feed(0, 10)).newest, start);
  get(store().put(upstream("bank")));
  EXPECT_EQ(get(store().feed(start, 10)).entries.front().number, start + 1);
}

// REP-02
TEST_P(StoreContract, TellsThatTheFeedHasGrown) {
  struct Told {
    std::atomic<int> times = 0;
  } told;
  other().on_feed([&told] { ++told.times; });
  const auto told_more_than = [&](int before) {
    const auto end = std::chrono::steady_clock::now() + proteus::test::kPatience;
    while (told.times <= before && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    return told.times > before;
  };
  get(store().put(upstream("bank")));
  EXPECT_TRUE(told_more_than(0));
  other().on_feed({});
  const int before = told.times;
  get(store().put(upstream("zoo")));
  EXPECT_EQ(told.times, before);
}

TEST_P(DurableStoreContract, KeepsTheFeedOverARestart) {
  const auto written = get(store().write({PutUpstream{upstream("bank")}}));
  reopen();
  EXPECT_EQ(get(store().upstream("bank"))->stored.version, written.versions[0]);
  EXPECT_EQ(get(store().feed(written.versions[0] - 1, 10)).entries.front().number, written.versions[0]);
  EXPECT_EQ(get(store().write({PutUpstream{upstream("bank")}})).versions[0], written.versions[0] + 1);
}

}  // namespace
}  // namespace proteus::store::test
