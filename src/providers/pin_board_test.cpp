#include <fmt/format.h>
#include <gtest/gtest.h>

#include "providers/upstream_pins.hpp"

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
                            .kind = proposal.kind,
                            .name = proposal.name,
                            .hash = proposal.hash,
                            .verdict = store::Verdict::ratified,
                            .definition = proposal.after,
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

}  // namespace
}  // namespace proteus::providers
