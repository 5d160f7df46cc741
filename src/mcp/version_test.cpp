#include "mcp/version.hpp"

#include <gtest/gtest.h>

#include "json/text.hpp"
#include "mcp/protocol_schema_test.hpp"

namespace proteus::mcp {
namespace {

TEST(Version, HasANameThatReadsBackAsTheSame) {
  for (const Version version : kAllVersions) {
    EXPECT_EQ(parse_version(to_string(version)), version);
  }
  EXPECT_EQ(to_string(kNewestLegacy), "2025-11-25");
  EXPECT_EQ(to_string(kModern), "2026-07-28");
}

TEST(Version, IsUnknownByAnyOtherName) {
  for (const auto* const name : {"", "2025-11-26", "2025-11-25 ", " 2025-11-25", "2025-11-2", "DRAFT-2026-v1", "1"}) {
    EXPECT_EQ(parse_version(name), std::nullopt) << name;
  }
}

TEST(Version, BelongsToTheEraThatItsHandshakeSays) {
  for (const Version version : kAllVersions) {
    EXPECT_EQ(era_of(version), version == kModern ? Era::modern : Era::legacy) << to_string(version);
  }
}

// PRO-02, PRO-22: the revision that the client requests if we speak it, otherwise the newest one with a handshake.
TEST(Negotiation, AnswersAKnownRevisionWithItself) {
  EXPECT_EQ(negotiate("2025-11-25"), Version::v2025_11_25);
  EXPECT_EQ(negotiate("2025-06-18"), Version::v2025_06_18);
  EXPECT_EQ(negotiate("2025-03-26"), Version::v2025_03_26);
  EXPECT_EQ(negotiate("2024-11-05"), Version::v2024_11_05);
}

// PRO-02
TEST(Negotiation, AnswersAnyOtherWithTheNewestThatHasAHandshake) {
  for (const auto* const asked : {"2024-10-07", "2026-07-28", "2099-01-01", "", "latest", "2025-11-25\n"}) {
    EXPECT_EQ(negotiate(asked), Version::v2025_11_25) << asked;
  }
}

TEST(SupportedVersions, AreThoseOfTheErasSpokenNewestFirst) {
  EXPECT_EQ(supported_versions_json({.legacy = true, .modern = true}),
            R"(["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"])");
  EXPECT_EQ(supported_versions_json({.legacy = false, .modern = true}), R"(["2026-07-28"])");
  EXPECT_EQ(supported_versions_json({.legacy = true, .modern = false}),
            R"(["2025-11-25","2025-06-18","2025-03-26","2024-11-05"])");
}

TEST(SupportedVersions, AreTheOnesNegotiationAgreesTo) {
  const auto listed = json::parse(supported_versions_json({.legacy = true, .modern = false}));
  for (const auto& version : listed->as_array()) {
    EXPECT_EQ(to_string(negotiate(version.as_string())), version.as_string());
  }
}

}  // namespace
}  // namespace proteus::mcp
