#include "app/served_manifests.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/config/test_support.hpp"

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

}  // namespace
}  // namespace proteus::app
