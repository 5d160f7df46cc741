#include "gateway/callers/issued_tokens.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proteus::gateway {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

IssuedTokens::Entry entry(std::string name, std::string_view secret, std::optional<Clock::Wall> expires = {},
                          std::vector<std::string> upstreams = {"*"}) {
  const PrincipalSettings settings{.name = name, .token = {}, .upstreams = std::move(upstreams)};
  return {std::make_shared<const Principal>(
              Principal::Parts{.name = name,
                               .permissions = std::make_shared<const Permissions>(permissions_of(settings)),
                               .key = name + "#1",
                               .token = json::sha256(secret),
                               .expires = expires}),
          std::make_shared<LastUse>()};
}

// OAU-14
TEST(IssuedTokens, AreFoundByTheirHashesAndRememberTheirUse) {
  const ManualClock clock;
  const auto ci = entry("ci", "s1");
  const IssuedTokens tokens({ci, entry("other", "s2", {}, {"bank"})});
  EXPECT_EQ(tokens.find(json::sha256("s1"), clock.now())->name(), "ci");
  EXPECT_EQ(tokens.find(json::sha256("s3"), clock.now()), nullptr);
  EXPECT_EQ(ci.use->at(), clock.now());
  EXPECT_FALSE(ci.principal->is_configured());
  EXPECT_FALSE(tokens.are_alike());
  EXPECT_TRUE(IssuedTokens({ci}).are_alike());
}

// OAU-10
TEST(IssuedTokens, OfOneKeyLiveAsLongAsOneOfThem) {
  const ManualClock clock;
  const auto now = clock.wall();
  const IssuedTokens tokens({entry("rotated", "new", now + hours(2)), entry("rotated", "old", now + hours(1)),
                             entry("brief", "s", now + hours(1)), entry("lasting", "t")});
  EXPECT_EQ(tokens.expiring().size(), 3U);
  EXPECT_THAT(tokens.keys_at(now), ::testing::UnorderedElementsAre("rotated#1", "brief#1", "lasting#1"));
  EXPECT_THAT(tokens.keys_at(now + hours(1)), ::testing::UnorderedElementsAre("rotated#1", "lasting#1"));
  EXPECT_THAT(tokens.keys_at(now + hours(2)), ::testing::UnorderedElementsAre("lasting#1"));
}

TEST(LastUse, IsKeptToTheMinute) {
  ManualClock clock;
  LastUse use;
  EXPECT_FALSE(use.at());
  const auto first = clock.now();
  use.mark(first);
  clock.advance(seconds(59));
  use.mark(clock.now());
  EXPECT_EQ(use.at(), first);
  clock.advance(seconds(1));
  use.mark(clock.now());
  EXPECT_EQ(use.at(), first + minutes(1));
}

}  // namespace
}  // namespace proteus::gateway
