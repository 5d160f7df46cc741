// `proteus check`, in process: what it prints and how it ends.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/commands/command.hpp"
#include "app/config/load.hpp"

namespace proteus::app {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Gives each test a directory for files.
class CheckCommand : public ::testing::Test {
 protected:
  CheckCommand() {
    std::string pattern = (fs::temp_directory_path() / "proteus-check-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~CheckCommand() override { fs::remove_all(directory_); }

  std::string write(const std::string& name, std::string_view text) {
    const fs::path path = directory_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }

  struct Outcome {
    ExitCode code;
    std::string out;
    std::string err;
  };
  static Outcome check(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "check");
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const ExitCode code = run(std::move(arguments));
    return {code, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
  }

  fs::path directory_;
};

TEST_F(CheckCommand, EndsWithZeroOnASoundFile) {
  const auto file = write("p.toml", "[[upstreams]]\nname = \"a\"\nurl = \"http://a.invalid/\"\n");
  const auto outcome = check({"--config", file});
  EXPECT_EQ(outcome.code, ExitCode::done);
  EXPECT_EQ(outcome.out, file + ": 1 upstream, 0 contexts, 0 tokens\n");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(CheckCommand, EndsWithTwoAndEveryFault) {
  const auto file = write("p.toml", "[server]\nlisten = 1\ngrace = \"x\"\n[[upstreams]]\nname = \"a\"\n");
  const auto outcome = check({"--config", file});
  EXPECT_EQ(outcome.code, ExitCode::usage);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(file + ":2:1: server.listen: must be a string, not a number\n"));
  EXPECT_THAT(outcome.err, HasSubstr(file + ":3:1: server.grace: "));
  EXPECT_THAT(outcome.err, HasSubstr(file + ":4:1: upstreams[0]: url is missing, or command\n3 faults\n"));
}

TEST_F(CheckCommand, TellsProgramsTheSame) {
  const auto file =
      write("p.toml", "[limits]\nparked_calls = 0\n[[auth.tokens]]\nname = \"a\"\ntoken_env = \"NOT_SET_ANYWHERE\"\n");
  const auto outcome = check({"--config", file, "--json"});
  EXPECT_EQ(outcome.code, ExitCode::usage);
  EXPECT_EQ(outcome.err, "");
  const auto json = boost::json::parse(outcome.out);
  EXPECT_EQ(json.at("ok"), false);
  EXPECT_EQ(json.at("file"), boost::json::value(file));
  EXPECT_EQ(json.at("faults"),
            boost::json::value(boost::json::array{boost::json::object{{"file", file},
                                                                      {"line", 2},
                                                                      {"column", 1},
                                                                      {"key", "limits.parked_calls"},
                                                                      {"pointer", "/limits/parked_calls"},
                                                                      {"message", "must be above zero"}}}));
  EXPECT_EQ(json.at("warnings").as_array().size(), 1U);
  EXPECT_EQ(boost::json::parse(check({"--config", write("q.toml", ""), "--json"}).out).at("ok"), true);
}

TEST_F(CheckCommand, RefusesAFileThatIsNotThere) {
  const auto missing = check({"--config", (directory_ / "none.toml").string()});
  EXPECT_EQ(missing.code, ExitCode::usage);
  EXPECT_THAT(missing.err, HasSubstr("none.toml: cannot be read: No such file or directory"));
  EXPECT_THAT(check({"--config", directory_.string()}).err, HasSubstr(": is a directory"));
  EXPECT_EQ(check({"--nonsense"}).code, ExitCode::usage);
}

TEST_F(CheckCommand, ReadsContextsBesideTheFile) {
  const auto file = write("p.toml", "");
  write("contexts/abc.toml", "display_name = \"SEC\"\n");
  write("contexts/notes.txt", "=");
  EXPECT_THAT(check({"--config", file}).out, HasSubstr("1 context,"));
  const auto broken = write("contexts/bad.toml", "display_nam = 1\n");
  const auto outcome = check({"--config", file});
  EXPECT_EQ(outcome.code, ExitCode::usage);
  EXPECT_THAT(outcome.err, HasSubstr(broken + ":1:1: display_nam: is not a known key; did you mean display_name?\n"));
}

TEST_F(CheckCommand, LooksWhereTheEnvironmentSays) {
  const auto file = write("p.toml", "[server]\nlisten = \"127.0.0.1:1\"\n");
  const auto loaded = load_config({}, fixed_environment({{"PROTEUS_CONFIG", file}}), Purpose::serve);
  EXPECT_EQ(loaded.file, file);
  EXPECT_EQ(loaded.outcome.config->server.listen.port, 1);
  const auto other = write("q.toml", "[server]\nlisten = \"127.0.0.1:2\"\n");
  const auto flagged = load_config({.file = other}, fixed_environment({{"PROTEUS_CONFIG", file}}), Purpose::serve);
  EXPECT_EQ(flagged.outcome.config->server.listen.port, 2);
  const auto missing =
      load_config({}, fixed_environment({{"PROTEUS_CONFIG", (directory_ / "x").string()}}), Purpose::serve);
  EXPECT_FALSE(missing.outcome.config);
}

// The files change after the watch was made.
TEST_F(CheckCommand, WatchesFromBeforeTheFilesWereRead) {
  const auto file = write("p.toml", "[server]\nlisten = \"127.0.0.1:1\"\n");
  const auto context = write("contexts/abc.toml", "display_name = \"A\"\n");
  EXPECT_FALSE(load_config({.file = file}, fixed_environment({}), Purpose::serve).watch.changed());
  for (const auto& edited : {file, context}) {
    bool asked = false;
    const Environment environment = [&](const std::string&) -> std::optional<std::string> {
      if (!asked) fs::last_write_time(edited, fs::last_write_time(edited) + std::chrono::seconds(1));
      asked = true;
      return std::nullopt;
    };
    const auto loaded = load_config({.file = file}, environment, Purpose::serve);
    EXPECT_TRUE(asked);
    EXPECT_TRUE(loaded.watch.changed()) << edited;
  }
  const auto loaded = load_config({.file = file}, fixed_environment({}), Purpose::serve);
  write("contexts/def.toml", "display_name = \"B\"\n");
  EXPECT_TRUE(loaded.watch.changed());
}

}  // namespace
}  // namespace proteus::app
