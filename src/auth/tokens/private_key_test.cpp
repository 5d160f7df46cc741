#include "auth/tokens/private_key.hpp"

#include <gtest/gtest.h>

#include "auth/tokens/jwt.hpp"

namespace proteus::auth {
namespace {

TEST(PrivateKey, SignsWhatItsPublicPartVerifies) {
  for (const Algorithm algorithm : kAlgorithms) {
    const PrivateKey key = PrivateKey::make(algorithm);
    const std::string token = key.sign_token({{"typ", "x"}}, {{"sub", "y"}});
    const auto read = Jwt::parse(token);
    ASSERT_TRUE(read) << read.error().message();
    const auto public_key = PublicKey::read(key.jwk());
    ASSERT_TRUE(public_key) << public_key.error().message();
    EXPECT_TRUE(read->is_signed_by(*public_key)) << to_string(algorithm);
    EXPECT_EQ(public_key->thumbprint(), key.thumbprint());
    EXPECT_EQ(read->algorithm(), algorithm);
  }
}

TEST(PrivateKey, IsKeptAsPem) {
  for (const Algorithm algorithm : kAlgorithms) {
    const PrivateKey key = PrivateKey::make(algorithm);
    const auto again = PrivateKey::read(key.pem(), algorithm);
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(again->thumbprint(), key.thumbprint());
    EXPECT_EQ(again->algorithm(), algorithm);
  }
  EXPECT_EQ(PrivateKey::read(PrivateKey::make(Algorithm::es384).pem())->algorithm(), Algorithm::es384);
  EXPECT_FALSE(PrivateKey::read(PrivateKey::make(Algorithm::es384).pem(), Algorithm::es256));
  EXPECT_FALSE(PrivateKey::read(Secret("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")));
  EXPECT_FALSE(PrivateKey::read(Secret("")));
}

}  // namespace
}  // namespace proteus::auth
