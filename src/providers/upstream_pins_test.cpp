#include "providers/upstream_pins.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace proteus::providers {
namespace {

using catalog::Kind;

// Makes tools whose only parameter has this type.
catalog::DefinitionList::Pointer tools(const std::vector<std::string>& names, std::string_view type) {
  std::vector<std::string> texts;
  texts.reserve(names.size());
  for (const auto& name : names) {
    texts.push_back(fmt::format(
        R"({{"name":"{}","inputSchema":{{"type":"object","properties":{{"to":{{"type":"{}"}}}}}}}})", name, type));
  }
  const std::vector<std::string_view> raw(texts.begin(), texts.end());
  return catalog::DefinitionList::build(Kind::tool, raw, {}, {}).value();
}

store::PinRecord verdict_on(const catalog::Proposal& proposal, store::Verdict verdict) {
  return {.upstream = "a",
          .kind = proposal.kind,
          .name = proposal.name,
          .hash = proposal.hash,
          .verdict = verdict,
          .definition = proposal.after,
          .by = "ada",
          .at = {}};
}

TEST(UpstreamPins, UnblocksWhatACallerSeesAsItWasRatifiedAndNothingElse) {
  UpstreamPins board("a", {});
  const std::vector<std::string> names = {"pa", "pay", "pay2"};
  board.judge(*tools(names, "string"), Reading::whole);
  for (const auto& [id, proposal] : board.posted()) {
    ASSERT_TRUE(board.take(verdict_on(*proposal, store::Verdict::ratified)));
  }
  // Two callers are shown different changes of each tool.
  board.judge(*tools(names, "integer"), Reading::part);
  board.judge(*tools(names, "boolean"), Reading::part);
  for (const auto& name : names)
    EXPECT_TRUE(board.blocked(Kind::tool, name)) << name;
  EXPECT_EQ(board.counts().blocked, 6U);

  EXPECT_EQ(board.judge(*tools({"pay"}, "string"), Reading::part).size(), 1U);
  EXPECT_FALSE(board.blocked(Kind::tool, "pay"));
  EXPECT_TRUE(board.blocked(Kind::tool, "pa"));
  EXPECT_TRUE(board.blocked(Kind::tool, "pay2"));
  EXPECT_EQ(board.counts().blocked, 4U);
}

// SEC-03: an upstream that shows each caller something else.
TEST(UpstreamPins, BlocksWhatItHasNoRoomFor) {
  constexpr std::size_t kRoom = 3000;
  UpstreamPins board("a", {}, kRoom);
  board.judge(*tools({"pay"}, "string"), Reading::whole);
  const auto first = board.posted().at(0).proposal;
  ASSERT_TRUE(board.take(verdict_on(*first, store::Verdict::ratified)));
  for (int i = 0; i < 100; ++i)
    board.judge(*tools({fmt::format("tool{}", i)}, "string"), Reading::part);
  const std::size_t kept = board.posted().size();
  EXPECT_GT(kept, 0U);
  EXPECT_LT(kept, 100U);
  EXPECT_EQ(board.counts().unkept, 1U);
  EXPECT_FALSE(board.blocked(Kind::tool, "pay"));
  board.judge(*tools({"pay"}, "integer"), Reading::part);
  EXPECT_FALSE(board.is_posted(Kind::tool, "pay"));
  EXPECT_TRUE(board.blocked(Kind::tool, "pay"));
  EXPECT_EQ(board.counts().blocked, 1U);
  board.judge(*tools({"pay"}, "string"), Reading::part);
  EXPECT_FALSE(board.blocked(Kind::tool, "pay")) << "a caller sees it as it was ratified";

  board.judge(*tools({"pay"}, "integer"), Reading::whole);
  EXPECT_TRUE(board.is_posted(Kind::tool, "pay")) << "the list replaces what waited";
  EXPECT_EQ(board.counts().unkept, 0U);
}

TEST(UpstreamPins, UnblocksWhatItHadNoRoomForWhenThatIsRatified) {
  constexpr std::size_t kRoom = 3000;
  UpstreamPins board("a", {}, kRoom);
  board.judge(*tools({"pay", "send"}, "string"), Reading::whole);
  for (const auto& [id, proposal] : board.posted())
    ASSERT_TRUE(board.take(verdict_on(*proposal, store::Verdict::ratified)));
  for (int i = 0; i < 100; ++i)
    board.judge(*tools({fmt::format("tool{}", i)}, "string"), Reading::part);
  board.judge(*tools({"pay", "send"}, "integer"), Reading::part);
  EXPECT_EQ(board.counts().blocked, 2U);

  // Another process had room for it.
  UpstreamPins other("a", {});
  other.judge(*tools({"send"}, "integer"), Reading::whole);
  ASSERT_TRUE(board.take(verdict_on(*other.posted().at(0).proposal, store::Verdict::rejected)));
  EXPECT_TRUE(board.blocked(Kind::tool, "send"));
  ASSERT_TRUE(board.take(verdict_on(*other.posted().at(0).proposal, store::Verdict::ratified)));
  EXPECT_FALSE(board.blocked(Kind::tool, "send"));

  // Decisions make room for it here.
  for (const auto& [id, proposal] : board.posted())
    ASSERT_TRUE(board.take(verdict_on(*proposal, store::Verdict::ratified)));
  board.judge(*tools({"pay"}, "integer"), Reading::part);
  ASSERT_TRUE(board.is_posted(Kind::tool, "pay"));
  EXPECT_TRUE(board.blocked(Kind::tool, "pay"));
  EXPECT_EQ(board.counts().blocked, 1U) << "it is counted once";
  ASSERT_EQ(board.posted().size(), 1U);
  ASSERT_TRUE(board.take(verdict_on(*board.posted().at(0).proposal, store::Verdict::ratified)));
  EXPECT_FALSE(board.blocked(Kind::tool, "pay"));
  EXPECT_EQ(board.counts().blocked, 0U);
}

// SEC-03: reading proposals copies none of their texts, and finding one does not read all.
TEST(UpstreamPins, SharesProposalsAndFindsThemById) {
  UpstreamPins board("a", {});
  board.judge(*tools({"pay", "see"}, "string"), Reading::whole);
  const auto posted = board.posted();
  ASSERT_EQ(posted.size(), 2U);
  for (const auto& one : posted)
    EXPECT_EQ(board.find(one.id)->proposal, one.proposal);
  EXPECT_TRUE(board.is_posted(Kind::tool, "pay"));
  EXPECT_FALSE(board.is_posted(Kind::tool, "pa"));
  EXPECT_FALSE(board.is_posted(Kind::prompt, "pay"));

  // A list that replaces another replaces its ids, and a decision removes its own.
  board.judge(*tools({"pay"}, "integer"), Reading::whole);
  for (const auto& one : posted)
    EXPECT_FALSE(board.find(one.id));
  const auto changed = board.posted();
  ASSERT_EQ(changed.size(), 1U);
  const auto decide = [&](store::Verdict verdict) { return board.take(verdict_on(*changed[0].proposal, verdict)); };
  ASSERT_TRUE(decide(store::Verdict::rejected));
  EXPECT_EQ(board.counts().rejected, 1U);
  EXPECT_FALSE(board.is_posted(Kind::tool, "pay"));
  EXPECT_TRUE(board.find(changed[0].id)) << "a person may think again";
  ASSERT_TRUE(decide(store::Verdict::ratified));
  EXPECT_FALSE(board.find(changed[0].id));
}

}  // namespace
}  // namespace proteus::providers
