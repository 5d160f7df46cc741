#include "auth/tokens/public_key.hpp"

#include <gtest/gtest.h>

#include "auth/testing/signing_key.hpp"
#include "json/text.hpp"

namespace proteus::auth {
namespace {

using test::key_of;

boost::json::object object_of(std::string_view text) { return json::parse(text).value().as_object(); }

// RFC 7638, section 3.1
constexpr std::string_view kThumbprintExample =
    R"({"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw","e":"AQAB","alg":"RS256","kid":"2011-04-29"})";

TEST(PublicKey, HasTheThumbprintOfTheStandard) {
  const auto key = PublicKey::read(object_of(kThumbprintExample));
  ASSERT_TRUE(key) << key.error().message();
  EXPECT_EQ(key->thumbprint(), "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
}

// RFC 8037, sections A.2 to A.4
TEST(PublicKey, ChecksTheSignatureOfTheStandard) {
  const auto key =
      PublicKey::read(object_of(R"({"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})"));
  ASSERT_TRUE(key);
  EXPECT_EQ(key->thumbprint(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
  const std::string signature =
      base64_decode("hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
                    Base64::url)
          .value();
  EXPECT_TRUE(key->verifies(Algorithm::eddsa, "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc", signature));
  EXPECT_FALSE(key->verifies(Algorithm::eddsa, "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmd", signature));
}

// OAU-01
TEST(PublicKey, ChecksSignaturesOfEachAlgorithm) {
  for (const Algorithm algorithm : kAlgorithms) {
    const auto& signer = key_of(algorithm);
    const auto key = PublicKey::read(signer.jwk());
    ASSERT_TRUE(key) << key.error().message();
    const std::string signature = signer.sign("text");
    EXPECT_TRUE(key->verifies(algorithm, "text", signature)) << to_string(algorithm);
    EXPECT_FALSE(key->verifies(algorithm, "texts", signature)) << to_string(algorithm);
    EXPECT_FALSE(key->verifies(algorithm, "text", signature + '\0')) << to_string(algorithm);
    EXPECT_FALSE(key->verifies(algorithm, "text", signature.substr(1))) << to_string(algorithm);
    EXPECT_FALSE(key->verifies(algorithm, "text", "")) << to_string(algorithm);
    EXPECT_FALSE(key->verifies(algorithm, "text", std::string(signature.size(), '\0'))) << to_string(algorithm);
    for (const Algorithm other : kAlgorithms) {
      if (other != algorithm) EXPECT_FALSE(key->verifies(other, "text", signature)) << to_string(other);
    }
  }
}

TEST(PublicKey, RefusesAKeyWithItsPrivatePart) {
  for (const auto* const name : {"d", "p", "q", "dp", "dq", "qi", "oth", "k"}) {
    auto jwk = key_of(Algorithm::es256).jwk();
    jwk[name] = "AQAB";
    EXPECT_FALSE(PublicKey::read(jwk)) << name;
  }
}

TEST(PublicKey, RefusesNumbersThatMakeNoKey) {
  auto rsa = key_of(Algorithm::rs256).jwk();
  const std::string modulus = base64_decode(rsa["n"].as_string(), Base64::url).value();
  const auto with = [&](const char* name, std::string_view bytes) {
    auto jwk = rsa;
    jwk[name] = test::encode(bytes);
    return PublicKey::read(jwk).has_value();
  };
  EXPECT_TRUE(with("n", modulus));
  EXPECT_FALSE(with("n", '\0' + modulus)) << "another spelling";
  EXPECT_FALSE(with("n", modulus.substr(128))) << "1024 bits";
  EXPECT_FALSE(with("n", std::string(2000, '\xff'))) << "16000 bits";
  EXPECT_FALSE(with("n", modulus.substr(0, 255) + '\0')) << "even";
  EXPECT_FALSE(with("n", ""));
  EXPECT_FALSE(with("e", "\x01"));
  EXPECT_FALSE(with("e", "\x02"));
  EXPECT_FALSE(with("e", std::string(9, '\x01'))) << "slow";

  auto point = key_of(Algorithm::es256).jwk();
  std::string x = base64_decode(point["x"].as_string(), Base64::url).value();
  point["x"] = test::encode(x + '\0');
  EXPECT_FALSE(PublicKey::read(point));
  x[31] = static_cast<char>(x[31] ^ 1);
  point["x"] = test::encode(x);
  EXPECT_FALSE(PublicKey::read(point)) << "not on the curve";
  point = key_of(Algorithm::es256).jwk();
  point["crv"] = "P-384";
  EXPECT_FALSE(PublicKey::read(point));
  point["crv"] = "secp256k1";
  EXPECT_FALSE(PublicKey::read(point));
  EXPECT_FALSE(PublicKey::read({}));
  EXPECT_FALSE(PublicKey::read({{"kty", "oct"}, {"k", "c2VjcmV0"}}));
  EXPECT_FALSE(PublicKey::read({{"kty", "OKP"}, {"crv", "Ed448"}, {"x", "AAAA"}}));
}

}  // namespace
}  // namespace proteus::auth
