#include "app/config/config.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/testing/config_support.hpp"

namespace proteus::app {
namespace {

using ::testing::ElementsAre;

TEST(UpstreamChanges, AreWhatAReloadHasToDo) {
  const auto config = [](std::string_view names, std::string_view timeout = "1s") {
    std::string toml;
    for (const char name : names)
      toml += fmt::format("[[upstreams]]\nname = \"{0}\"\nurl = \"http://{0}/\"\ntimeout = \"{1}\"\n", name,
                          name == 'b' ? timeout : "1s");
    return read(toml).config.value();
  };
  EXPECT_TRUE(compare_upstreams(config("abc"), config("abc")).empty());
  EXPECT_TRUE(config("abc") == config("abc"));
  const auto changes = compare_upstreams(config("abc"), config("bcd", "2s"));
  EXPECT_THAT(changes.added, ElementsAre("d"));
  EXPECT_THAT(changes.removed, ElementsAre("a"));
  EXPECT_THAT(changes.changed, ElementsAre("b"));
  EXPECT_FALSE(changes.reordered);
  EXPECT_TRUE(compare_upstreams(config("abc"), config("acb")).reordered);
  EXPECT_FALSE(config("abc") == config("acb"));
}

}  // namespace
}  // namespace proteus::app
