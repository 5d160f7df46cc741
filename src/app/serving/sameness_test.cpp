#include "app/serving/sameness.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proteus::app {
namespace {

using ::testing::HasSubstr;

Config usual() {
  Config config;
  config.auth.tokens.emplace_back().name = "ada";
  config.contexts["desk"].include = {"shop_*"};
  return config;
}

// REP-01
TEST(ConfigurationHash, IsTheSameWhereverAProcessRuns) {
  const Config one = usual();
  Config two = usual();
  two.server.listen.port = 9;
  two.server.threads = 7;
  two.cluster.name = "two";
  two.data_directory = "elsewhere";
  EXPECT_EQ(configuration_hash(one), configuration_hash(two));
}

// REP-01
TEST(ConfigurationHash, IsAnotherWithAnythingThatCallersSee) {
  const std::string before = configuration_hash(usual());
  const auto expect_another = [&](auto change) {
    Config config = usual();
    change(config);
    EXPECT_NE(configuration_hash(config), before);
  };
  expect_another([](Config& config) { config.contexts["desk"].instructions = "Ask first."; });
  expect_another([](Config& config) { config.schemas["bank"].guidance = "Never guess."; });
  expect_another([](Config& config) { config.auth.tokens.front().read_only = true; });
  expect_another([](Config& config) { config.server.page_size = 7; });
  expect_another([](Config& config) { config.egress.allow = {"10.0.0.0/8"}; });
  expect_another([](Config& config) { config.upstream_defaults.trust = providers::Trust::pin; });
}

// REP-01
TEST(ConfigurationHash, HasNothingOfSecrets) {
  Config config = usual();
  config.auth.tokens.front().token = Secret("hunter2");
  EXPECT_EQ(configuration_hash(config), configuration_hash(usual()));
}

// REP-01
TEST(MappingsHash, IsOfWhatIsRatified) {
  datasets::DirectoryContent content;
  const std::string nothing = mappings_hash(content);
  content.files.push_back({.file = "a.toml", .name = "a", .sha256 = "1"});
  EXPECT_EQ(mappings_hash(content), nothing);
  content.files.front().status = datasets::DatasetStatus::ratified;
  const std::string first = mappings_hash(content);
  EXPECT_NE(first, nothing);
  content.files.front().sha256 = "2";
  EXPECT_NE(mappings_hash(content), first);
}

// REP-01
TEST(SamenessTest, SaysWhatDiffers) {
  Sameness sameness;
  const std::string own = R"({"name":"one","configuration":"a","mappings":"m"})";
  sameness.look(own, {own});
  EXPECT_THAT(sameness.describe(), HasSubstr(R"("configuration":"same","mappings":"same")"));
  sameness.look(own, {own, R"({"name":"two","configuration":"b","mappings":"m"})"});
  EXPECT_THAT(sameness.describe(), HasSubstr(R"("configuration":"differs","mappings":"same")"));
  sameness.look(own, {R"({"name":"two","configuration":"a","mappings":"n"})"});
  EXPECT_THAT(sameness.describe(), HasSubstr(R"("configuration":"same","mappings":"differs")"));
  // Of an older version, and of none that we know.
  sameness.look(own, {R"({"name":"two","configuration":"a"})", "not JSON"});
  EXPECT_THAT(sameness.describe(), HasSubstr(R"("configuration":"same","mappings":"same")"));
}

}  // namespace
}  // namespace proteus::app
