#include "client/message/facts.hpp"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proteus::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Received answer(const std::string& result) {
  return Received::scan(fmt::format(R"({{"jsonrpc":"2.0","id":1,"result":{}}})", result), {}).value();
}

std::string discovered(const std::string& versions, const std::string& instructions) {
  return fmt::format(R"({{"supportedVersions":{},"capabilities":{{}},"instructions":"{}"}})", versions, instructions);
}

// SEC-03
TEST(Facts, LeaveOutInstructionsThatAreTooLongAndKeepTheRest) {
  for (const std::size_t size : {kLongestInstructions + 1, 20 * kLongestInstructions}) {
    const auto facts = read_discover(answer(discovered(R"(["2026-07-28"])", std::string(size, 'x'))));
    ASSERT_TRUE(facts) << facts.error().message();
    EXPECT_THAT(facts->instructions, "");
    EXPECT_THAT(facts->left_out, ElementsAre(HasSubstr("instructions")));
    EXPECT_THAT(facts->versions, ElementsAre("2026-07-28"));
  }
}

TEST(Facts, KeepInstructionsWhoseEscapesAreLong) {
  std::string escaped;
  for (std::size_t i = 0; i < kLongestInstructions; ++i)
    escaped += "\\u0041";
  const auto facts = read_discover(answer(discovered(R"(["2026-07-28"])", escaped)));
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_EQ(facts->instructions, std::string(kLongestInstructions, 'A'));
  EXPECT_THAT(facts->left_out, ElementsAre());
}

TEST(Facts, AreTheSameInAnotherOrderOfMembers) {
  const auto said = [](std::string_view members) {
    return read_discover(answer(fmt::format(R"({{"supportedVersions":["2026-07-28"],{}}})", members))).value();
  };
  const auto facts = said(R"("capabilities":{"tools":{},"prompts":{}},"serverInfo":{"name":"a","version":"1"})");
  EXPECT_TRUE(same(facts, said(R"("serverInfo":{"version":"1","name":"a"},"capabilities":{"prompts":{},"tools":{}})")));
  EXPECT_FALSE(
      same(facts, said(R"("capabilities":{"tools":{},"prompts":{}},"serverInfo":{"name":"b","version":"1"})")));
  EXPECT_FALSE(same(facts, said(R"("capabilities":{"tools":{}},"serverInfo":{"name":"a","version":"1"})")));
}

// SEC-03
TEST(Facts, RefuseVersionsWithoutEndBeforeReadingThem) {
  const std::string many = fmt::format(R"(["2026-07-28","{}"])", std::string(100'000, 'x'));
  EXPECT_THAT(read_discover(answer(discovered(many, ""))).error().message(), HasSubstr("too many versions"));
  const std::string one = fmt::format(R"({{"protocolVersion":"{}","capabilities":{{}}}})", std::string(100'000, 'x'));
  EXPECT_THAT(read_initialize(answer(one)).error().message(), HasSubstr("no protocol version"));
}

}  // namespace
}  // namespace proteus::client
