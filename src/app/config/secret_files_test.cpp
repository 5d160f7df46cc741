// Tokens and admin keys from files, the expiry of tokens, and the roles of keys.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/config/load.hpp"
#include "app/testing/config_support.hpp"
#include "store/testing/test_support.hpp"

namespace proteus::app {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SecretFiles : public ::testing::Test {
 protected:
  void write(const std::string& name, std::string_view text) {
    std::ofstream(directory_.path() / name, std::ios::binary) << text;
  }
  LoadedConfig load(Purpose purpose = Purpose::serve) {
    return load_config({.file = (directory_.path() / "proteus.toml").string()}, fixed_environment({{"A", "of-env"}}),
                       purpose);
  }
  std::vector<std::string> said(Purpose purpose = Purpose::serve) {
    std::vector<std::string> out;
    for (const Diagnostic& diagnostic : load(purpose).outcome.diagnostics)
      out.push_back(show(diagnostic));
    return out;
  }

  store::test::TemporaryDirectory directory_;
};

constexpr std::string_view kBoth =
    "[[auth.tokens]]\nname = \"ci\"\ntoken_file = \"ci.token\"\n"
    "[[admin.keys]]\nname = \"ops\"\nsecret_file = \"ops.secret\"\nrole = \"viewer\"\n";

// OAU-14
TEST_F(SecretFiles, HoldATokenAndAKeyAndAreWatched) {
  write("proteus.toml", kBoth);
  write("ci.token", "first-token\r\n");
  write("ops.secret", "of-ops");
  const LoadedConfig loaded = load();
  ASSERT_TRUE(loaded.outcome.config);
  EXPECT_EQ(loaded.outcome.config->auth.tokens.at(0).token.reveal(), "first-token");
  EXPECT_EQ(loaded.outcome.config->admin.keys.at(0).secret.reveal(), "of-ops");
  EXPECT_EQ(loaded.outcome.config->admin.keys.at(0).role, admin::Role::viewer);
  EXPECT_FALSE(loaded.watch.changed());
  for (const char* file : {"ci.token", "ops.secret"}) {
    const FileWatch watch = load().watch;
    const auto path = directory_.path() / file;
    fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
    EXPECT_TRUE(watch.changed()) << file;
  }
}

TEST_F(SecretFiles, AreFaultsWhereTheyHoldNoSecret) {
  write("proteus.toml", kBoth);
  write("ops.secret", "of-ops");
  EXPECT_THAT(said(), ElementsAre(HasSubstr("auth.tokens[0].token_file: the file ")));
  EXPECT_THAT(said(Purpose::check), ElementsAre(HasSubstr("warning: auth.tokens[0].token_file: the file ")));
  for (const std::string& wrong : {std::string(), std::string("\n"), std::string("two words"),
                                   std::string("two\nlines\n"), std::string("\0", 1), std::string(5000, 'x')}) {
    write("ci.token", wrong);
    EXPECT_THAT(said(), ElementsAre(HasSubstr("must hold one line"))) << wrong.size();
  }
  write("ci.token", "of-ops");
  EXPECT_THAT(said(), IsEmpty()) << "a token and a key are of different people";
  write("proteus.toml",
        "[[auth.tokens]]\nname = \"a\"\ntoken_file = \"ci.token\"\n[[auth.tokens]]\nname = \"b\"\ntoken_env = \"A\"\n");
  write("ci.token", "of-env\n");
  EXPECT_THAT(said(),
              ElementsAre(HasSubstr("auth.tokens[1].token_env: holds the same secret as that of auth.tokens[0]")));
  fs::remove(directory_.path() / "ci.token");
  fs::create_directory(directory_.path() / "ci.token");
  EXPECT_THAT(said(), ElementsAre(HasSubstr("is no regular file")));
}

TEST(Tokens, AreInAVariableOrInAFile) {
  for (const std::string_view source : {"", "token_env = \"A\"\ntoken_file = \"f\"\n"}) {
    const auto outcome = read("[[auth.tokens]]\nname = \"a\"\n" + std::string(source), {{"A", "x"}});
    EXPECT_FALSE(outcome.config);
    EXPECT_THAT(outcome.said, ElementsAre(HasSubstr("auth.tokens[0]: needs either token_env or token_file")));
  }
  EXPECT_THAT(read("[[admin.keys]]\nname = \"a\"\n").said,
              ElementsAre(HasSubstr("admin.keys[0]: needs either secret_env or secret_file")));
  EXPECT_THAT(read("[[admin.keys]]\nname = \"a\"\nsecret_env = \"A\"\nrole = \"root\"\n", {{"A", "x"}}).said,
              ElementsAre(HasSubstr("admin.keys[0].role: must be \"admin\" or \"viewer\"")));
}

TEST(Tokens, ExpireAtAnInstant) {
  for (const std::string_view written : {"2027-01-01T00:00:00Z", "\"2027-01-01T01:00:00+01:00\""}) {
    const auto outcome =
        read(fmt::format("[[auth.tokens]]\nname = \"a\"\ntoken_env = \"A\"\nexpires = {}\n", written), {{"A", "x"}});
    ASSERT_TRUE(outcome.config) << written << outcome.said.at(0);
    EXPECT_EQ(outcome.config->auth.tokens.at(0).expires,
              Clock::Wall(std::chrono::sys_days(std::chrono::year(2027) / 1 / 1)));
  }
  const Clock::Wall in_2028 = std::chrono::sys_days(std::chrono::year(2028) / 1 / 1);
  const std::string past = "[[auth.tokens]]\nname = \"a\"\ntoken_env = \"A\"\nexpires = 2027-01-01T00:00:00Z\n";
  EXPECT_THAT(read(past, {{"A", "x"}}, {}, Purpose::check, {}, in_2028).said,
              ElementsAre(HasSubstr("warning: auth.tokens[0].expires: is in the past")));
  EXPECT_THAT(read(past, {{"A", "x"}}, {}, Purpose::check, {}, in_2028 - std::chrono::years(2)).said, IsEmpty());
  for (const std::string_view wrong : {"2027-01-01", "2027-01-01T00:00:00", "\"30d\"", "5"}) {
    EXPECT_THAT(
        read(fmt::format("[[auth.tokens]]\nname = \"a\"\ntoken_env = \"A\"\nexpires = {}\n", wrong), {{"A", "x"}}).said,
        ElementsAre(HasSubstr("auth.tokens[0].expires: ")))
        << wrong;
  }
}

}  // namespace
}  // namespace proteus::app
