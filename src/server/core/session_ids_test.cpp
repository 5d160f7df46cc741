#include "server/core/session_ids.hpp"

#include <set>

#include <gtest/gtest.h>

#include "base/text/base64.hpp"

namespace proteus::server {
namespace {

const SealingKey kKey = SealingKey::derive("a pepper that is long enough", "session ids");
const ProcessKey kSelf = process_key_of("one-1234");
const SessionIds kIds(kKey, kSelf);
const Caller kAnna{.principal = "anna", .context = "work"};

std::string an_id() { return kIds.mint(kAnna, mcp::Version::v2025_06_18, R"({"roots":{}})"); }

TEST(SessionIds, SayToAnyProcessWhoMadeThem) {
  const SessionIds other(kKey, process_key_of("two-5678"));
  const auto facts = other.open(an_id(), kAnna);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->maker, kSelf);
  EXPECT_EQ(facts->version, mcp::Version::v2025_06_18);
  EXPECT_EQ(facts->client_capabilities, R"({"roots":{}})");
}

TEST(SessionIds, AreNeverTheSame) {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i)
    EXPECT_TRUE(ids.insert(an_id()).second);
}

TEST(SessionIds, OfAnotherCallerAreUnknown) {
  const std::string id = an_id();
  EXPECT_FALSE(kIds.open(id, {.principal = "bert", .context = "work"}));
  EXPECT_FALSE(kIds.open(id, {.principal = "anna", .context = ""}));
  // The boundary between principal and context cannot be moved.
  EXPECT_FALSE(kIds.open(kIds.mint({.principal = "a", .context = "b c"}, mcp::kNewestLegacy, "{}"),
                         {.principal = "a b", .context = "c"}));
}

TEST(SessionIds, ThatWereForgedOrCutAreUnknown) {
  const std::string id = an_id();
  for (std::size_t length = 0; length < id.size(); ++length)
    EXPECT_FALSE(kIds.open(id.substr(0, length), kAnna)) << length;
  const std::string bytes = *base64_decode(id, Base64::url);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string changed = bytes;
    changed[bit / 8] = static_cast<char>(static_cast<unsigned char>(changed[bit / 8]) ^ (1U << (bit % 8)));
    EXPECT_FALSE(kIds.open(base64_encode(changed, Base64::url), kAnna)) << bit;
  }
  EXPECT_FALSE(kIds.open(id + id, kAnna));
  EXPECT_FALSE(kIds.open(std::string(100'000, 'A'), kAnna));
  const SessionIds foreign(SealingKey::derive("another pepper, as long", "session ids"), kSelf);
  EXPECT_FALSE(foreign.open(id, kAnna));
  // No other text that the same key sealed can pass for an id.
  EXPECT_FALSE(kIds.open(base64_encode(kKey.seal("anything", "session 4:anna work"), Base64::url), kAnna));
}

TEST(SessionIds, StayShortWhateverAClientOffers) {
  const std::string much = R"({"sampling":{},"experimental":{"x":")" + std::string(5000, 'x') + R"("}})";
  const std::string id = kIds.mint(kAnna, mcp::kNewestLegacy, much);
  EXPECT_LT(id.size(), 512U);
  const auto facts = kIds.open(id, kAnna);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->client_capabilities, R"({"sampling":{}})");
  const std::string longest = kIds.mint(kAnna, mcp::kNewestLegacy, std::string(256, ' '));
  EXPECT_TRUE(kIds.open(longest, kAnna));
}

TEST(OpenedIds, AreRememberedForTheCallerAlone) {
  OpenedIds opened(kIds);
  const std::string id = an_id();
  for (int i = 0; i < 2; ++i) {
    const auto facts = opened.open(id, kAnna);
    ASSERT_TRUE(facts);
    EXPECT_EQ(facts->maker, kSelf);
    EXPECT_EQ(facts->client_capabilities, R"({"roots":{}})");
  }
  EXPECT_FALSE(opened.open(id, {.principal = "bert", .context = "work"}));
  EXPECT_FALSE(opened.open(id, {.principal = "anna", .context = ""}));
  EXPECT_FALSE(opened.open(id + "x", kAnna));
  EXPECT_FALSE(opened.open("", {}));
}

}  // namespace
}  // namespace proteus::server
