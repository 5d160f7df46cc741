#include "gateway/sign_in/awaited.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace proteus::gateway {
namespace {

class AwaitedSignInsTest : public ::testing::Test {
 protected:
  static Ticket ticket_of(const std::string& person, std::size_t number) {
    return {.id = fmt::format("{} {}", person, number), .person = {Person::Kind::user, person}, .upstream = "notes"};
  }

  ManualClock clock_;
  AwaitedSignIns awaited_{clock_};
};

TEST_F(AwaitedSignInsTest, CallsThatWentOnTakeNoRoomOfAnotherPerson) {
  using enum AwaitedSignIns::Claim;
  for (std::size_t i = 0; i < AwaitedSignIns::kMost; ++i)
    EXPECT_EQ(awaited_.claim(fmt::format("{}", i), "ada"), i < AwaitedSignIns::kMostOfOne ? first : full);
  EXPECT_EQ(awaited_.claim("of bo", "bo"), first);
  EXPECT_EQ(awaited_.claim("of bo", "bo"), again);
  clock_.advance(AwaitedSignIns::kRemembered);
  EXPECT_EQ(awaited_.claim("later", "ada"), first);
}

TEST_F(AwaitedSignInsTest, SignInsThatEndedTakeNoRoomOfAnotherPerson) {
  for (std::size_t i = 0; i < AwaitedSignIns::kMost; ++i)
    awaited_.ended(ticket_of("ada", i), SignInEnd::declined);
  awaited_.ended(ticket_of("bo", 1), SignInEnd::connected);
  EXPECT_EQ(awaited_.find("bo 1"), SignInEnd::connected);
  EXPECT_EQ(awaited_.find("ada 1"), SignInEnd::declined);
  clock_.advance(AwaitedSignIns::kRemembered);
  awaited_.ended(ticket_of("ada", AwaitedSignIns::kMost), SignInEnd::connected);
  EXPECT_EQ(awaited_.find(ticket_of("ada", AwaitedSignIns::kMost).id), SignInEnd::connected);
}

}  // namespace
}  // namespace proteus::gateway
