#include "providers/upstream_pins.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace proteus::providers {
namespace {

using catalog::Kind;

// Tools whose only parameter has this type.
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

TEST(UpstreamPins, UnblocksWhatACallerSeesAsItWasRatifiedAndNothingElse) {
  UpstreamPins board("a", {});
  const std::vector<std::string> names = {"pa", "pay", "pay2"};
  board.judge(*tools(names, "string"), Reading::whole);
  for (const auto& [id, proposal] : board.posted()) {
    ASSERT_TRUE(board.take({.upstream = "a",
                            .kind = proposal->kind,
                            .name = proposal->name,
                            .hash = proposal->hash,
                            .verdict = store::Verdict::ratified,
                            .definition = proposal->after,
                            .by = "ada",
                            .at = {}}));
  }
  // Two callers, who are shown two changes of each.
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

// SEC-03: whoever looks at proposals copies none of their texts, and finds one without reading all.
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

  // What replaces a list replaces its ids, and a decision takes its own away.
  board.judge(*tools({"pay"}, "integer"), Reading::whole);
  for (const auto& one : posted)
    EXPECT_FALSE(board.find(one.id));
  const auto changed = board.posted();
  ASSERT_EQ(changed.size(), 1U);
  const auto decide = [&](store::Verdict verdict) {
    const auto& proposal = *changed[0].proposal;
    return board.take({.upstream = "a",
                       .kind = proposal.kind,
                       .name = proposal.name,
                       .hash = proposal.hash,
                       .verdict = verdict,
                       .definition = proposal.after,
                       .by = "ada",
                       .at = {}});
  };
  ASSERT_TRUE(decide(store::Verdict::rejected));
  EXPECT_EQ(board.counts().rejected, 1U);
  EXPECT_FALSE(board.is_posted(Kind::tool, "pay"));
  EXPECT_TRUE(board.find(changed[0].id)) << "a person may think again";
  ASSERT_TRUE(decide(store::Verdict::ratified));
  EXPECT_FALSE(board.find(changed[0].id));
}

}  // namespace
}  // namespace proteus::providers
