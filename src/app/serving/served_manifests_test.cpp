#include "app/serving/served_manifests.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/testing/config_support.hpp"

namespace proteus::app {
namespace {

using ::testing::ElementsAre;

// CTX-11
TEST(ServedManifests, LeaveABrokenContextAtTheStartWithoutItsTexts) {
  const auto config = read(R"(
[contexts.bad]
exclude = ["drop*"]
display_nam = "Bad"
tool_supplements = { a = "A" }
[contexts.child]
parent = "bad"
[contexts.good]
display_name = "Good"
)")
                          .config;
  const auto served = served_manifests(*config, nullptr);
  ASSERT_TRUE(served.contexts.contains("bad"));
  EXPECT_TRUE(served.contexts.at("bad").tool_supplements.empty());
  EXPECT_FALSE(served.contexts.at("bad").fault.empty());
  EXPECT_THAT(served.contexts.at("bad").exclude, ElementsAre("drop*")) << "a fault elsewhere lets nothing in";
  EXPECT_THAT(served.contexts.at("child").exclude, ElementsAre("drop*"));
  EXPECT_EQ(served.contexts.at("good").display_name, "Good");
}

// CTX-11
TEST(ServedManifests, KeepABrokenContextAtAReloadAsItWas) {
  const auto before = served_manifests(*read(R"(
[contexts.a]
schemas = ["s"]
tool_supplements = { x = "X" }
[contexts.b]
[schemas.s]
guidance = "G"
)")
                                            .config,
                                       nullptr);
  const auto now = served_manifests(*read("[contexts.a]\nincludes = 1\n").config, &before);
  EXPECT_EQ(now.contexts.at("a").tool_supplements.at("x"), "X");
  EXPECT_EQ(now.schemas.at("s").guidance, "G");
  EXPECT_FALSE(now.contexts.at("a").fault.empty());
  EXPECT_FALSE(now.contexts.contains("b")) << "that one was taken out";
  const auto mended = served_manifests(*read("[contexts.a]\n").config, &now);
  EXPECT_TRUE(mended.contexts.at("a").fault.empty());
}

// CTX-11
TEST(ServedManifests, KeepWhatAFileHeldThatCannotBeReadNow) {
  const std::vector<SourceFile> sound{{"contexts/many.toml", "[contexts.a]\ndisplay_name = \"A\"\n[contexts.b]\n"}};
  const auto before = served_manifests(*read("", {}, {}, Purpose::serve, sound).config, nullptr);
  const auto now = served_manifests(*read("", {}, {}, Purpose::serve, {{"contexts/many.toml", "="}}).config, &before);
  EXPECT_EQ(now.contexts.at("a").display_name, "A");
  EXPECT_TRUE(now.contexts.contains("b"));
}

// CTX-11: for every file name, and every way in which a whole file can be broken.
TEST(ServedManifests, KeepWhatAFileHeldThatIsBrokenAsAWhole) {
  const auto serve = [](const std::string& file, const char* text, const catalog::Manifests* before) {
    return served_manifests(*read("[contexts.many]\n", {}, {}, Purpose::serve, {{"contexts/" + file, text}}).config,
                            before);
  };
  for (const char* file : {"many.toml", "not a name.toml"}) {
    const auto before = serve(file, "[contexts.a]\ndisplay_name = \"A\"\n[schemas.s]\nguidance = \"G\"\n", nullptr);
    ASSERT_TRUE(before.contexts.contains("a"));
    for (const char* broken : {"=", "contexts = 5", "display_name = \"A\"\n[schemas.t]\n",
                               "[contexts.a]\ndisplay_name = 2001-01-01\n[schemas.s]\nguidance = \"H\""}) {
      const auto now = serve(file, broken, &before);
      ASSERT_TRUE(now.contexts.contains("a")) << file << ": " << broken;
      EXPECT_EQ(now.contexts.at("a").display_name, "A");
      EXPECT_FALSE(now.contexts.at("a").fault.empty());
      EXPECT_EQ(now.schemas.at("s").guidance, "G") << file << ": " << broken;
    }
  }
}

// CTX-11: the same for schemas.
TEST(ServedManifests, KeepABrokenSchemaAtAReloadAsItWas) {
  const auto config = [](const char* guidance) {
    return *read(fmt::format("[contexts.a]\nschemas = [\"s\"]\n[schemas.s]\nguidance = {}\n", guidance)).config;
  };
  const auto before = served_manifests(config("\"G\""), nullptr);
  const auto now = served_manifests(config("1"), &before);
  EXPECT_EQ(now.schemas.at("s").guidance, "G");
  EXPECT_TRUE(served_manifests(config("1"), nullptr).schemas.empty());
}

}  // namespace
}  // namespace proteus::app
