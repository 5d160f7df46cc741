// Contexts and schemas in the main file and in the files of contexts/.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/testing/config_support.hpp"

namespace proteus::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(Contexts, InheritAndOverride) {
  const auto [config, said] = read(R"(
[contexts.abc]
display_name = "SEC"
exclude = ["x"]
tool_supplements = { a = "1", b = "2" }
[contexts.old]
parent = "abc"
exclude = []
tool_supplements = { b = "3" }
[contexts.older]
parent = "old"
)");
  EXPECT_THAT(said, IsEmpty());
  const auto& older = config->contexts.at("older");
  EXPECT_EQ(older.display_name, "SEC");
  EXPECT_EQ(older.parent, "old");
  EXPECT_THAT(older.exclude, IsEmpty());
  EXPECT_EQ(older.tool_supplements, (std::map<std::string, std::string>{{"a", "1"}, {"b", "3"}}));
  EXPECT_EQ(config->contexts.at("abc").parent, "");
}

TEST(Contexts, AreAlsoReadFromFilesOfTheirOwn) {
  const auto [config, said] = read("[contexts.one]\nparent = \"two\"\nschemas = [\"ledger\"]", {}, {}, Purpose::serve,
                                   {{"contexts/ledger.toml", "guidance = \"g\""},
                                    {"contexts/more.toml", "[contexts.three]\n[schemas.other]\nguidance = \"h\""},
                                    {"contexts/two.toml", "display_name = \"Two\""}});
  EXPECT_THAT(said, IsEmpty());
  ASSERT_TRUE(config);
  EXPECT_EQ(config->contexts.at("one").display_name, "Two");
  EXPECT_EQ(config->schemas.at("ledger").guidance, "g");
  EXPECT_EQ(config->contexts.size(), 3U);
  EXPECT_EQ(config->schemas.size(), 2U);
}

// CTX-11: `schemas` is a section of a file, and also a key of a context.
TEST(Contexts, UseSchemasInAFileOfTheirOwn) {
  const auto [config, said] = read("[schemas.ledger]\nguidance = \"g\"", {}, {}, Purpose::serve,
                                   {{"contexts/one.toml", "display_name = \"One\"\nschemas = [\"ledger\"]"}});
  EXPECT_THAT(said, IsEmpty());
  ASSERT_TRUE(config && config->contexts.contains("one"));
  EXPECT_THAT(config->contexts.at("one").schemas, ElementsAre("ledger"));
}

TEST(Contexts, ThatAreBrokenAreLeftOutAndEverythingElseIsServed) {
  const auto [config, said] = read(R"([contexts.good]
sibling_subgraphs = ["bda"]
[contexts.bad]
includes = ["*"]
[contexts.child]
parent = "bad"
[contexts.a]
parent = "b"
[contexts.b]
parent = "a"
[contexts.c]
schemas = ["leger"]
)",
                                   {}, {}, Purpose::serve,
                                   {{"contexts/broken.toml", "="},
                                    {"contexts/good.toml", ""},
                                    {"contexts/ledger.toml", "guidance = 1"},
                                    {"contexts/mixed.toml", "[contexts.m]\n[server]\n"}});
  ASSERT_TRUE(config);
  EXPECT_THAT(
      said,
      ElementsAre(
          "proteus.toml:2:22: warning: contexts.good.sibling_subgraphs[0]: there is no context bda; did you mean bad?",
          "proteus.toml:4:1: contexts.bad.includes: is not a known key; did you mean include?",
          "proteus.toml:6:1: contexts.child.parent: the context bad is broken",
          "proteus.toml:8:1: contexts.a.parent: the context b is broken",
          "proteus.toml:10:1: contexts.b.parent: makes it its own ancestor",
          "proteus.toml:12:12: contexts.c.schemas[0]: there is no schema leger; did you mean ledger?",
          StartsWith("contexts/broken.toml:1:1: "), "contexts/good.toml: good is already defined in proteus.toml",
          "contexts/ledger.toml:1:1: guidance: must be a string, not a number",
          "contexts/mixed.toml:2:2: server: is not allowed: a file with contexts or schemas may contain nothing else"));
  EXPECT_TRUE(config->contexts.contains("good"));
  EXPECT_TRUE(config->contexts.contains("m"));
  EXPECT_THAT(config->broken.contexts, ElementsAre("a", "b", "bad", "broken", "c", "child"));
}

}  // namespace
}  // namespace proteus::app
