#include "app/serving/sameness.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log/log.hpp"

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
  Config one = usual();
  Config two = usual();
  two.server.listen.port = 9;
  two.server.threads = 7;
  two.cluster.name = "two";
  two.data_directory = "elsewhere";
  one.auth.tokens.front().token_file = "/etc/one/ada";
  two.auth.tokens.front().token_file = "/etc/two/ada";
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
  const store::MemberRecord same{.name = "one-1", .facts = own};
  sameness.look(own, {same});
  EXPECT_THAT(sameness.describe(), HasSubstr(R"("configuration":"same","mappings":"same")"));
  sameness.look(own, {same, {.name = "two-1", .facts = R"({"name":"two","configuration":"b","mappings":"m"})"}});
  EXPECT_THAT(sameness.describe(), HasSubstr(R"("configuration":"differs","mappings":"same")"));
  sameness.look(own, {{.name = "two-1", .facts = R"({"name":"two","configuration":"a","mappings":"n"})"}});
  EXPECT_THAT(sameness.describe(), HasSubstr(R"("configuration":"same","mappings":"differs")"));
  // The facts of an older version, and facts that are not JSON.
  sameness.look(own, {{.name = "two-1", .facts = R"({"name":"two","configuration":"a"})"},
                      {.name = "three-1", .facts = "not JSON"}});
  EXPECT_THAT(sameness.describe(), HasSubstr(R"("configuration":"same","mappings":"same")"));
}

// REP-01: processes that share a file also share [cluster] name.
TEST(SamenessTest, TellsProcessesOfOneNameApart) {
  static std::string logged;
  log::configure({});
  log::redirect([](std::string_view line) { logged.append(line).append("\n"); });
  Sameness sameness;
  const std::string own = R"({"name":"us","configuration":"a","mappings":"m"})";
  const store::MemberRecord differs{.name = "us-1", .facts = R"({"name":"us","configuration":"b","mappings":"m"})"};
  const store::MemberRecord lacks{.name = "us-2", .facts = R"({"name":"us","configuration":"a","mappings":"n"})"};
  sameness.look(own, {differs, lacks});
  sameness.look(own, {lacks});
  log::redirect(nullptr);
  EXPECT_THAT(logged, HasSubstr("process us-1 has other configuration than"));
  EXPECT_THAT(logged, HasSubstr("process us-2 has other mappings than"));
  EXPECT_THAT(logged, HasSubstr("process us-1 no longer differs"));
}

}  // namespace
}  // namespace proteus::app
