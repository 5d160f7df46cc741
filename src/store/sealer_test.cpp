#include "store/sealer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proteus::store {
namespace {

using testing::HasSubstr;

Pepper pepper(const std::string& value) { return Pepper::given(value).value(); }

// SEC-02
TEST(Sealer, OpensOnlyForTheRecordItSealedFor) {
  const Sealer sealer(pepper("one"));
  const std::string sealed = sealer.seal("secret", "bank");
  const auto opened = sealer.open(sealed, "bank");
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->plain, "secret");
  EXPECT_EQ(opened->with, SealedWith::current);
  EXPECT_THAT(sealer.open(sealed, "zoo").error().message(), HasSubstr("belongs to another record"));
  EXPECT_NE(sealed, sealer.seal("secret", "bank"));
}

// SEC-09
TEST(Sealer, OpensWithThePreviousPepperAndSealsWithTheCurrent) {
  const std::string old = Sealer(pepper("one")).seal("secret", "bank");
  const Sealer rotating(pepper("two"), pepper("one"));
  EXPECT_EQ(rotating.open(old, "bank")->plain, "secret");
  EXPECT_EQ(rotating.open(old, "bank")->with, SealedWith::previous);
  const std::string renewed = rotating.seal("secret", "bank");
  EXPECT_EQ(Sealer(pepper("two")).open(renewed, "bank")->plain, "secret");
  EXPECT_EQ(Sealer(pepper("two")).open(old, "bank").error().kind(), ErrorKind::invalid);
  EXPECT_THAT(Sealer(pepper("two")).open(old, "bank").error().message(), HasSubstr("another pepper"));
}

TEST(Sealer, NoticesEveryChangedBitAndEveryCut) {
  const Sealer sealer(pepper("one"), pepper("two"));
  const std::string sealed = sealer.seal("secret", "bank");
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    std::string changed = sealed;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(sealer.open(changed, "bank")) << at;
    EXPECT_FALSE(sealer.open(std::string_view(sealed).substr(0, at), "bank")) << at;
  }
}

}  // namespace
}  // namespace proteus::store
