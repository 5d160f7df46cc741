#include "base/secrets/sealing.hpp"

#include <gtest/gtest.h>

namespace proteus {
namespace {

TEST(ConstantTime, EveryByteCounts) {
  for (std::size_t size = 0; size < 100; ++size) {
    const std::string text(size, 'x');
    EXPECT_TRUE(equal_in_constant_time(text, std::string(size, 'x'))) << size;
    EXPECT_FALSE(equal_in_constant_time(text, text + "x")) << size;
    for (std::size_t at = 0; at < size; ++at) {
      std::string other = text;
      other[at] = 'y';
      EXPECT_FALSE(equal_in_constant_time(text, other)) << size << " bytes, other at " << at;
    }
  }
}

TEST(SealingKey, OpensOnlyWhatItSealedForTheSamePurposeAndBinding) {
  const auto key = SealingKey::derive("pepper", "request state");
  const std::string sealed = key.seal("secret", "alice");
  EXPECT_EQ(key.open(sealed, "alice"), "secret");
  EXPECT_EQ(key.open(sealed, "bob"), std::nullopt);
  EXPECT_EQ(SealingKey::derive("pepper", "other").open(sealed, "alice"), std::nullopt);
  EXPECT_EQ(SealingKey::derive("pepper", "request state").open(sealed, "alice"), "secret");
  EXPECT_EQ(sealed.find("secret"), std::string::npos);
}

TEST(SealingKey, SealsTheSameTextAlikeWhereItIsToBeRecognised) {
  const auto key = SealingKey::derive("pepper", "task ids");
  const std::string sealed = key.seal_same("text", "alice");
  EXPECT_EQ(key.seal_same("text", "alice"), sealed);
  EXPECT_EQ(key.open(sealed, "alice"), "text");
  EXPECT_EQ(key.open(sealed, "bob"), std::nullopt);
  EXPECT_NE(key.seal_same("text", "bob").substr(0, 12), sealed.substr(0, 12)) << "no nonce is used twice";
  EXPECT_NE(key.seal_same("texs", "alice").substr(0, 12), sealed.substr(0, 12));
  EXPECT_NE(key.seal_same("xtext", "alice"), key.seal_same("text", "alicex"));
  EXPECT_NE(key.seal("text", "alice"), key.seal("text", "alice"));
}

TEST(DeriveBytes, DependsOnTheSecretAndThePurpose) {
  const std::string derived = derive_bytes("pepper", "admin secret", 32);
  EXPECT_EQ(derived.size(), 32U);
  EXPECT_EQ(derived, derive_bytes("pepper", "admin secret", 32));
  EXPECT_NE(derived, derive_bytes("pepper", "key id", 32));
  EXPECT_NE(derived, derive_bytes("other", "admin secret", 32));
}

TEST(SealingKey, NoticesEveryChangedBitAndEveryCut) {
  const auto key = SealingKey::random();
  const std::string sealed = key.seal("state", "");
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    std::string changed = sealed;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_EQ(key.open(changed, ""), std::nullopt) << at;
    EXPECT_EQ(key.open(std::string_view(sealed).substr(0, at), ""), std::nullopt) << at;
  }
  EXPECT_EQ(key.open(key.seal("", "x"), "x"), "");
}

}  // namespace
}  // namespace proteus
