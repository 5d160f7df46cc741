#include "search/indexes.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/contexts/contexts.hpp"
#include "search/testing/searching.hpp"

namespace proteus::search::testing {
namespace {

using catalog::Kind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Parts = std::vector<catalog::View::Part>;

Parts parts_of(const std::vector<catalog::SnapshotPointer>& upstreams) {
  Parts parts;
  for (const auto& snapshot : upstreams)
    parts.push_back({snapshot.get(), {}});
  return parts;
}

std::vector<std::string> tools_named(int count) {
  std::vector<std::string> tools;
  for (int i = 0; i < count; ++i)
    tools.push_back(tool(fmt::format("send_invoice_{}", i), "Sends an invoice."));
  return tools;
}

class IndexesTest : public ::testing::Test {
 protected:
  std::vector<std::string> search(const std::vector<catalog::SnapshotPointer>& upstreams, std::string_view query) {
    const Parts parts = parts_of(upstreams);
    auto visible = indexes_.find(parts);
    if (!visible) visible = indexes_.build(parts);
    return names(upstreams, rank(*visible, Query::read(query).value(), 10));
  }

  ManualClock clock_;
  Indexes indexes_{clock_};
};

// SRC-06
TEST_F(IndexesTest, AreMadeAtTheFirstSearchAndKept) {
  const std::vector all = {upstream("a", {tool("read_file")}), upstream("b", {tool("send_mail")})};
  EXPECT_EQ(indexes_.size(), 0U);
  EXPECT_FALSE(indexes_.find(parts_of(all)));
  EXPECT_THAT(search(all, "mail"), ElementsAre("send_mail"));
  EXPECT_TRUE(indexes_.find(parts_of(all)));
  EXPECT_EQ(indexes_.size(), 2U);
}

// SRC-06
TEST_F(IndexesTest, OfOthersStayWhenOneUpstreamIsRefreshed) {
  std::vector all = {upstream("a", {tool("read_file")}), upstream("b", {tool("send_mail"), tool("old_mail")})};
  search(all, "mail");
  const auto kept = indexes_.find(parts_of({all.front()})).value().front().index;
  all[1] = upstream("b", {tool("send_mail")}, "", 2);
  EXPECT_FALSE(indexes_.find(parts_of(all)));
  EXPECT_THAT(search(all, "mail"), ElementsAre("send_mail")) << "what was removed is not found from the next search on";
  EXPECT_EQ(indexes_.find(parts_of(all)).value().front().index, kept);
}

// SRC-06
TEST_F(IndexesTest, FollowWhatAnUpstreamSaysOfItself) {
  const auto first = upstream("a", {tool("read_file")}, "For sailors.");
  EXPECT_THAT(search({first}, "sailor"), ElementsAre("read_file"));
  const auto second = std::make_shared<const catalog::Snapshot>(first->upstream(), 2, first->lists());
  EXPECT_THAT(search({second}, "sailor"), IsEmpty());
  EXPECT_EQ(indexes_.find(parts_of({first})).value().front().index->pieces().front().index,
            indexes_.find(parts_of({second})).value().front().index->pieces().front().index)
      << "the same list is indexed once";
}

// SRC-06
TEST_F(IndexesTest, GoWithTheirSnapshotsAndWhenNobodySearches) {
  auto a = upstream("a", {tool("read_file")});
  const auto b = upstream("b", {tool("send_mail")});
  search({a, b}, "mail");
  a.reset();
  indexes_.drop_unused_since(clock_.now());
  EXPECT_EQ(indexes_.size(), 1U);
  clock_.advance(std::chrono::minutes(10));
  indexes_.drop_unused_since(clock_.now() - std::chrono::minutes(5));
  EXPECT_EQ(indexes_.size(), 0U);
  EXPECT_EQ(indexes_.memory_bytes(), 0U);
}

TEST_F(IndexesTest, DoNotGrowWithEachRefresh) {
  for (std::uint64_t version = 1; version < 1000; ++version)
    search({upstream("a", {tool("read_file")}, "", version)}, "file");
  EXPECT_LE(indexes_.size(), 64U);
}

TEST_F(IndexesTest, AreSharedByAllWhoSeePartsOfAList) {
  const auto base = upstream("a", tools_named(100));
  search({base}, "invoice");
  const std::size_t alone = indexes_.memory_bytes();
  std::vector<catalog::SnapshotPointer> seen;
  std::vector<catalog::Access> rules;
  for (int i = 0; i < 10; ++i) {
    rules.push_back(
        catalog::Access::only({"*"}, {.allow = {"*"}, .deny = {fmt::format("*_{}*", i)}, .read_only = false}));
    seen.push_back(rules.back().entries()->through(base));
    search({seen.back()}, "invoice");
  }
  EXPECT_EQ(indexes_.size(), 11U);
  EXPECT_LT(indexes_.memory_bytes() - alone, 10 * alone / 3);
}

// What a context says about a tool counts for callers in that context.
TEST_F(IndexesTest, KnowDescriptionsAsAContextMakesThem) {
  const auto base = upstream("a", tools_named(20));
  const auto contexts =
      catalog::Contexts::make({{{"c", {.tool_supplements = {{"send_invoice_7", "Only for sailors."}}}}}, {}});
  const auto seen = contexts->lens("c", [](auto) { return true; })->through(base);
  EXPECT_THAT(search({seen}, "sailor"), ElementsAre("send_invoice_7"));
  EXPECT_THAT(search({base}, "sailor"), IsEmpty());
  EXPECT_THAT(search({seen}, "invoice"), ::testing::SizeIs(10));
}

TEST_F(IndexesTest, KnowWhatOthersSayOfAnUpstream) {
  Indexes indexes(clock_, {},
                  [](const catalog::Snapshot& snapshot) { return snapshot.upstream().value() + " ledger"; });
  const std::vector all = {upstream("a", {tool("read_file")})};
  const auto visible = indexes.build(parts_of(all));
  EXPECT_THAT(names(all, rank(visible, Query::read("ledger").value(), 10)), ElementsAre("read_file"));
}

}  // namespace
}  // namespace proteus::search::testing
