#include "cluster/peers/peer_pass.hpp"

#include <gtest/gtest.h>

namespace proteus::cluster {
namespace {

const SealingKey kKey = SealingKey::derive("a pepper that is long enough", "peer requests");
const PeerPasses kOne(kKey, "one-1");
const PeerPasses kTwo(kKey, "two-2");
const Clock::Wall kNow{std::chrono::hours(480'000)};

TEST(PeerPasses, SayWhoPassesARequestOn) {
  const std::string pass = kOne.mint("two-2", "POST", "/mcp/work", kNow);
  EXPECT_EQ(kTwo.check(pass, "POST", "/mcp/work", kNow).value(), "one-1");
}

TEST(PeerPasses, AreForOneProcess) {
  const std::string pass = kOne.mint("two-1", "POST", "/mcp", kNow);
  const auto checked = kTwo.check(pass, "POST", "/mcp", kNow);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind(), ErrorKind::conflict);
  EXPECT_FALSE(kOne.check(kOne.mint("two-2", "POST", "/mcp", kNow), "POST", "/mcp", kNow));
}

TEST(PeerPasses, AreForOneRequestAndForAMinute) {
  const std::string pass = kOne.mint("two-2", "POST", "/mcp", kNow);
  const auto refused = [&](std::string_view text, std::string_view method, std::string_view target, Clock::Wall now) {
    const auto checked = kTwo.check(text, method, target, now);
    return !checked && checked.error().kind() == ErrorKind::unauthenticated;
  };
  EXPECT_TRUE(refused(pass, "DELETE", "/mcp", kNow));
  EXPECT_TRUE(refused(pass, "POST", "/mcp/other", kNow));
  EXPECT_TRUE(refused(pass, "POST", "/mcp", kNow + std::chrono::seconds(61)));
  EXPECT_TRUE(refused(pass, "POST", "/mcp", kNow - std::chrono::seconds(61)));
  EXPECT_TRUE(kTwo.check(pass, "POST", "/mcp", kNow + std::chrono::seconds(59)));
}

TEST(PeerPasses, CannotBeForged) {
  const std::string pass = kOne.mint("two-2", "POST", "/mcp", kNow);
  for (std::size_t length = 0; length < pass.size(); ++length)
    EXPECT_FALSE(kTwo.check(std::string_view(pass).substr(0, length), "POST", "/mcp", kNow));
  const PeerPasses stranger(SealingKey::derive("another pepper, as long", "peer requests"), "one-1");
  EXPECT_FALSE(kTwo.check(stranger.mint("two-2", "POST", "/mcp", kNow), "POST", "/mcp", kNow));
  EXPECT_FALSE(kTwo.check(std::string(100'000, 'A'), "POST", "/mcp", kNow));
}

}  // namespace
}  // namespace proteus::cluster
