#include "base/log/log.hpp"

#include <filesystem>
#include <vector>

#include <gmock/gmock.h>

namespace proteus::log {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string>& lines() {
  static std::vector<std::string> kept;
  return kept;
}

class LogLines : public ::testing::Test {
 protected:
  LogLines() {
    lines().clear();
    redirect([](std::string_view line) { lines().emplace_back(line); });
  }
  ~LogLines() override {
    redirect(nullptr);
    configure({});
  }
};

// OPS-05
TEST_F(LogLines, IsOneLinePerEventWithItsModuleAndFields) {
  warning("upstream {} is away", "bank");
  event(Level::info, "answered", {{"request", "7f-1"}, {"method", "tools/call"}, {"error", "two words = \"x\"\n"}});
  EXPECT_THAT(lines(),
              ElementsAre("warning base: upstream bank is away",
                          R"(info base: answered request=7f-1 method=tools/call error="two words = \"x\"\u000a")"));
}

// OPS-05
TEST_F(LogLines, IsJsonWhereThatIsWanted) {
  configure({.format = Format::json});
  event(Level::error, "a \"quoted\" message", {{"request", "1"}});
  EXPECT_THAT(lines(), ElementsAre(R"(error "module":"base","message":"a \"quoted\" message","request":"1")"));
}

// OPS-05: an upstream's error can neither control a terminal nor look like further lines, in messages and in fields.
TEST_F(LogLines, ShowsWhatStrangersWrote) {
  const std::string nasty = "\x1b]0;x\a\n2026 error forged \u202e\u009b";
  warning("it said: {}", nasty);
  event(Level::info, "said", {{"error", nasty}, {"name", "a\u202eb"}, {"other", "grüße"}});
  warning("{}", std::string(100'000, 'x'));
  configure({.format = Format::json});
  warning("it said: {}", nasty);
  ASSERT_EQ(lines().size(), 4U);
  EXPECT_EQ(lines()[0], R"(warning base: it said: \x1b]0;x\x07\x0a2026 error forged \u{202e}\u{9b})");
  EXPECT_EQ(
      lines()[1],
      R"(info base: said error="\u001b]0;x\u0007\u000a2026 error forged \u202e\u009b" name="a\u202eb" other=grüße)");
  EXPECT_LT(lines()[2].size(), 20'000U);
  EXPECT_EQ(lines()[3],
            R"(warning "module":"base","message":"it said: \u001b]0;x\u0007\u000a2026 error forged \u202e\u009b")");
}

// OPS-05
TEST_F(LogLines, HasALevelForEachModule) {
  configure({.level = Level::warning, .modules = {{"base", Level::debug}}});
  debug("seen");
  configure({.level = Level::debug, .modules = {{"base", Level::error}}});
  EXPECT_TRUE(enabled(Level::debug)) << "for some module";
  EXPECT_FALSE(enabled_here(Level::debug));
  warning("not seen");
  event(Level::warning, "not seen", {});
  EXPECT_THAT(lines(), ElementsAre("debug base: seen"));
}

TEST_F(LogLines, FormatsNothingThatIsNotWritten) {
  struct Costly {
    static std::string text() { throw std::logic_error("this was not to be formatted"); }
  };
  configure({.level = Level::info});
  if (enabled(Level::debug)) event(Level::debug, "x", {{"costly", Costly::text()}});
  EXPECT_THAT(lines(), IsEmpty());
}

// OPS-05
TEST_F(LogLines, EachFolderIsAModule) {
  for (const auto& entry : std::filesystem::directory_iterator(PROTEUS_SOURCE_DIR "/src")) {
    if (entry.is_directory()) EXPECT_TRUE(check_module(entry.path().filename().string())) << entry.path();
  }
}

// OPS-05
TEST_F(LogLines, ReadsLevelsFromAText) {
  Settings settings;
  ASSERT_TRUE(apply("warning,gateway=debug,net=off", settings));
  EXPECT_EQ(settings.level, Level::warning);
  EXPECT_EQ(settings.modules.at("gateway"), Level::debug);
  EXPECT_EQ(settings.modules.at("net"), Level::off);
  const Settings before = settings;
  for (const char* text : {"loud", "gateway=loud", "gatway=debug", "=debug", "debug,,info"}) {
    const auto refused = apply(text, settings);
    EXPECT_FALSE(refused) << text;
    EXPECT_EQ(settings, before) << text;
  }
  EXPECT_THAT(apply("gatway=debug", settings).error().message(), HasSubstr("gateway"));
  EXPECT_TRUE(apply("", settings));
}

}  // namespace
}  // namespace proteus::log
