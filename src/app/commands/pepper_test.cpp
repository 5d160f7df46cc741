// What commands do that need the pepper of a gateway and are not given it.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/commands/command.hpp"
#include "store/testing/test_support.hpp"

namespace proteus::app {
namespace {

using ::testing::HasSubstr;

class CommandWithoutPepper : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }

  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }

  // Returns what a command prints as its failure; empty if it succeeds.
  std::string failure(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--config", path("proteus.toml"), "--data", path("data")});
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const ExitCode code = run(std::move(arguments));
    ::testing::internal::GetCapturedStdout();
    const std::string said = ::testing::internal::GetCapturedStderr();
    return code == ExitCode::done ? "" : said;
  }

 private:
  store::test::TemporaryDirectory directory_;
};

TEST_F(CommandWithoutPepper, IsRefusedForACluster) {
  write("proteus.toml", "[cluster]\n");
  std::filesystem::create_directories(path("data"));
  write("data/pepper", "local\n");
  std::filesystem::permissions(path("data/pepper"), std::filesystem::perms::owner_read);
  for (const std::vector<std::string>& command : {std::vector<std::string>{"dataset", "list"},
                                                  {"dataset", "revoke", "people", "--by", "Ada"},
                                                  {"admin-secret"},
                                                  {"token", "list"}})
    EXPECT_THAT(failure(command), HasSubstr("PROTEUS_PEPPER")) << command.back();
}

TEST_F(CommandWithoutPepper, MakesNoneForAGatewayThatHasOneElsewhere) {
  write("proteus.toml", "");
  std::filesystem::create_directories(path("data"));
  write("data/proteus.db", "");
  EXPECT_THAT(failure({"dataset", "list"}), HasSubstr("there is no pepper"));
  EXPECT_FALSE(std::filesystem::exists(path("data/pepper")));
}

TEST_F(CommandWithoutPepper, MakesOneWhereNoGatewayHasRun) {
  write("proteus.toml", "");
  EXPECT_EQ(failure({"dataset", "list"}), "");
  EXPECT_TRUE(std::filesystem::exists(path("data/pepper")));
}

}  // namespace
}  // namespace proteus::app
