// Settings of the file that the environment and the command line override.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/config/read_config.hpp"
#include "app/testing/config_support.hpp"

namespace proteus::app {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::StartsWith;

TEST(Config, IsLayered) {
  constexpr std::string_view kToml = "[server]\nlisten = \"127.0.0.1:1\"\n[datasets]\nmappings = \"m\"\n";
  const auto listen = [&](std::map<std::string, std::string> variables, const Overrides& overrides = {}) {
    return read(kToml, std::move(variables), overrides).config.value().server.listen.text();
  };
  EXPECT_EQ(read("").config->server.listen.text(), "127.0.0.1:8080");
  EXPECT_EQ(listen({}), "127.0.0.1:1");
  EXPECT_EQ(listen({{"PORT", "2"}}), "127.0.0.1:2");
  EXPECT_EQ(listen({{"HOST", "::1"}}), "[::1]:1");
  EXPECT_EQ(listen({{"HOST", "0.0.0.0"}, {"PORT", "2"}, {"PROTEUS_LISTEN", "localhost:3"}}), "localhost:3");
  EXPECT_EQ(listen({{"PROTEUS_LISTEN", "127.0.0.1:3"}}, {.listen = "[::]:4"}), "[::]:4");
  EXPECT_EQ(listen({{"PROTEUS_LISTEN", ""}}), "127.0.0.1:1");

  EXPECT_EQ(read(kToml, {{"PROTEUS_DATA", "/d"}}).config->data_directory, "/d");
  EXPECT_EQ(read(kToml, {{"PROTEUS_DATA", "/d"}}, {.data = "/e"}).config->data_directory, "/e");
  EXPECT_EQ(read(kToml).config->datasets.mappings, "m");
  EXPECT_EQ(read(kToml, {{"PROTEUS_MAPPINGS", "n"}}).config->datasets.mappings, "n");
}

// SES-23: a gateway that listens beyond loopback needs the variable for tools on its own machine.
TEST(Config, TakesEgressRulesFromTheEnvironment) {
  constexpr std::string_view kToml = "[egress]\nallow = [\"a.test\"]\n";
  const auto allow = [&](std::map<std::string, std::string> variables) {
    return read(kToml, std::move(variables)).config.value().egress.allow;
  };
  EXPECT_THAT(allow({}), ElementsAre("a.test"));
  EXPECT_THAT(allow({{"PROTEUS_EGRESS_ALLOW", ""}}), ElementsAre("a.test"));
  EXPECT_THAT(allow({{"PROTEUS_EGRESS_ALLOW", "localhost, 10.0.0.0/8,::1"}}),
              ElementsAre("localhost", "10.0.0.0/8", "::1"));
  EXPECT_THAT(read("", {{"PROTEUS_EGRESS_ALLOW", "localhost,10.0.0.0/99"}}).said,
              ElementsAre(StartsWith("PROTEUS_EGRESS_ALLOW: must be a network such as")));
}

// REP-01: processes that share a configuration file have different addresses.
TEST(Config, TakesTheUrlForPeersFromTheEnvironment) {
  constexpr std::string_view kToml = "[cluster]\nname = \"a\"\npeer_listen = \"0.0.0.0:9443\"\n";
  const std::map<std::string, std::string> usual = {{"PROTEUS_STORE", "postgresql://db/proteus"},
                                                    {"PROTEUS_PEPPER", "p"}};
  const auto with = [&](std::string url) {
    auto variables = usual;
    variables["PROTEUS_PEER_URL"] = std::move(url);
    return variables;
  };
  const auto config = read(kToml, with("https://10.0.0.7:9443")).config;
  ASSERT_TRUE(config);
  EXPECT_EQ(config->cluster.peer_url, "https://10.0.0.7:9443");
  EXPECT_EQ(config->cluster.name, "a");
  EXPECT_FALSE(read(kToml, usual).config);
  EXPECT_THAT(read(kToml, with("10.0.0.7")).said, Contains(StartsWith("PROTEUS_PEER_URL: must be a URL such as")));
}

// PRX-01
TEST(Config, HasADefaultStrategyThatCanBeSet) {
  const auto strategies = [](std::string_view defaults, std::map<std::string, std::string> variables) {
    const auto config = read(std::string(defaults) +
                                 "[[upstreams]]\nname = \"a\"\nurl = \"http://a/\"\n[[upstreams]]\nname = \"b\"\nurl = "
                                 "\"http://b/\"\nrefresh_strategy = \"cached\"\nmeta_propagation_enabled = false\n",
                             std::move(variables))
                            .config.value();
    std::string out;
    for (const auto& entry : config.upstreams) {
      out += entry.settings.refresh_strategy == providers::RefreshStrategy::cached ? "cached" : "direct";
      out += entry.settings.propagates_meta() ? "+meta " : " ";
    }
    return out;
  };
  constexpr std::string_view kDirect = "[defaults.upstream]\nrefresh_strategy = \"direct_proxy\"\n";
  EXPECT_EQ(strategies("", {}), "cached cached ");
  EXPECT_EQ(strategies(kDirect, {}), "direct+meta cached ");
  EXPECT_EQ(strategies("", {{"PROTEUS_DEFAULT_REFRESH_STRATEGY", "direct_proxy"}}), "direct+meta cached ");
  EXPECT_EQ(strategies(kDirect, {{"PROTEUS_DEFAULT_REFRESH_STRATEGY", "cached"}}), "cached cached ");
  EXPECT_EQ(strategies("", {{"PROTEUS_META_PROPAGATION", "true"}}), "cached+meta cached ");
  EXPECT_EQ(strategies(kDirect, {{"PROTEUS_META_PROPAGATION", "false"}}), "direct cached ");
  EXPECT_THAT(read("", {{"PROTEUS_DEFAULT_REFRESH_STRATEGY", "live"}}).said,
              ElementsAre("PROTEUS_DEFAULT_REFRESH_STRATEGY: must be \"cached\" or \"direct_proxy\", not \"live\""));
}

}  // namespace
}  // namespace proteus::app
