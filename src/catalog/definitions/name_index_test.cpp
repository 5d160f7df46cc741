#include "catalog/definitions/name_index.hpp"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace proteus::catalog {
namespace {

using Entry = NameIndex::Entry;

std::vector<Entry> expected(const std::set<Entry>& all, std::uint32_t hash) {
  const Entry first = static_cast<Entry>(hash) << 32U;
  return {all.lower_bound(first), all.upper_bound(first | 0xFFFFFFFFU)};
}

std::vector<Entry> found(const NameIndex& index, std::uint32_t hash) {
  const auto holders = index.holders(hash);
  return {holders.begin(), holders.end()};
}

TEST(NameIndex, PacksHoldersInTheOrderTheyAreAskedIn) {
  const Holder holder{0xFFFFFFFF, true, 7};
  const Holder back = NameIndex::unpack(NameIndex::pack(holder));
  EXPECT_EQ(back.hash, holder.hash);
  EXPECT_TRUE(back.alias);
  EXPECT_EQ(back.rank, 7U);
  EXPECT_LT(NameIndex::pack({1, false, 9}), NameIndex::pack({1, true, 0}));
  EXPECT_LT(NameIndex::pack({1, false, 8}), NameIndex::pack({1, false, 9}));
  EXPECT_LT(NameIndex::pack({1, true, 9}), NameIndex::pack({2, false, 0}));
}

TEST(NameIndex, FindsNothingInAnEmptyOne) { EXPECT_TRUE(NameIndex::build({})->holders(17).empty()); }

// Grows over several sizes and shrinks again, compared with a plain set. Each earlier index must stay unchanged.
TEST(NameIndex, AnswersLikeASetAndLeavesTheOneBeforeAlone) {
  std::mt19937 random(7);
  std::set<Entry> all;
  auto index = NameIndex::build({});
  for (int round = 0; round < 40; ++round) {
    std::set<Entry> added;
    std::set<Entry> removed;
    const bool growing = round < 25;
    for (int i = 0; i < 200; ++i) {
      const auto rank = static_cast<std::uint32_t>(random() % 8);
      const Entry entry = NameIndex::pack({static_cast<std::uint32_t>(random()) & 0xFFF0FFF0U, i % 5 == 0, rank});
      if (growing && !all.contains(entry)) added.insert(entry);
    }
    for (const Entry entry : all) {
      if (random() % (growing ? 20 : 3) == 0) removed.insert(entry);
    }
    const auto before = index;
    const std::set<Entry> was = all;
    index = index->changed(std::vector<Entry>(added.begin(), added.end()),
                           std::vector<Entry>(removed.begin(), removed.end()));
    for (const Entry entry : removed)
      all.erase(entry);
    all.insert(added.begin(), added.end());
    for (const auto& entries : {added, removed, was}) {
      for (const Entry entry : entries) {
        const auto hash = static_cast<std::uint32_t>(entry >> 32U);
        ASSERT_EQ(found(*index, hash), expected(all, hash));
        ASSERT_EQ(found(*before, hash), expected(was, hash));
      }
    }
  }
}

}  // namespace
}  // namespace proteus::catalog
