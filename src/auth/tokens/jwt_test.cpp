#include "auth/tokens/jwt.hpp"

#include <array>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "auth/testing/signing_key.hpp"

namespace proteus::auth {
namespace {

using test::encode;
using test::key_of;
using test::SigningKey;

const boost::json::object kClaims = {{"iss", "https://id.example"}, {"sub", "mia"}};

KeySet keys(const std::vector<boost::json::object>& list) { return KeySet::parse(test::key_set(list)).value(); }

Result<> check(const std::string& token, const KeySet& set, std::span<const Algorithm> allowed = kAlgorithms) {
  const auto read = Jwt::parse(token);
  if (!read) return std::unexpected(read.error());
  return check_signature(*read, set, allowed);
}

std::string with_header(const std::string& header) {
  return key_of(Algorithm::es256).signed_text(encode(header) + "." + encode(kClaims));
}
std::string with_payload(const std::string& payload) {
  return key_of(Algorithm::es256).signed_text(encode(R"({"alg":"ES256","kid":"key"})") + "." + encode(payload));
}

// OAU-01
TEST(Jwt, IsAcceptedWithEachAlgorithm) {
  for (const Algorithm algorithm : kAlgorithms) {
    const auto& signer = key_of(algorithm);
    const auto set = keys({signer.jwk()});
    EXPECT_TRUE(check(signer.token(kClaims), set)) << to_string(algorithm);
    std::string changed = signer.token(kClaims);
    changed[changed.size() - 10] = changed[changed.size() - 10] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(check(changed, set)) << to_string(algorithm);
  }
}

// OAU-01: `none`, in any case.
TEST(Jwt, IsRefusedUnsigned) {
  const auto set = keys({key_of(Algorithm::es256).jwk()});
  for (const auto* const name : {"none", "None", "NONE", "nOnE", ""}) {
    const std::string text = encode(boost::json::object{{"alg", name}, {"kid", "key"}}) + "." + encode(kClaims) + ".";
    EXPECT_FALSE(check(text, set)) << name;
    EXPECT_FALSE(check(text + "AA", set)) << name;
  }
  EXPECT_FALSE(check(encode(R"({"kid":"key"})") + "." + encode(kClaims) + ".AA", set));
  EXPECT_FALSE(check(encode(R"({"alg":"ES256","kid":"key"})") + "." + encode(kClaims) + ".", set));
}

// OAU-01: algorithm confusion. The public key, in each form in which others know it, must not serve as an HMAC secret.
TEST(Jwt, IsRefusedWhereThePublicKeyWasTakenForASecret) {
  const auto& signer = key_of(Algorithm::rs256);
  const auto set = keys({signer.jwk()});
  const std::string text = encode(R"({"alg":"HS256","kid":"key","typ":"at+jwt"})") + "." + encode(kClaims);
  const auto jwk = signer.jwk();
  const std::string forms[] = {boost::json::serialize(jwk), std::string(jwk.at("n").as_string()),
                               base64_decode(jwk.at("n").as_string(), Base64::url).value()};
  for (const std::string& secret : forms) {
    std::array<unsigned char, 32> mac;
    unsigned size = mac.size();
    HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac.data(), &size);
    const std::string token = text + "." + encode(std::string_view(reinterpret_cast<char*>(mac.data()), size));
    const auto read = Jwt::parse(token);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().message(), "the token is unsigned, or its algorithm is not one of those accepted");
    // The same MAC under the name of an accepted algorithm.
    const std::string renamed = encode(R"({"alg":"RS256","kid":"key"})") + "." + encode(kClaims) + "." +
                                encode(std::string_view(reinterpret_cast<char*>(mac.data()), size));
    EXPECT_FALSE(check(renamed, set));
  }
}

// OAU-01: a key of the wrong type.
TEST(Jwt, IsRefusedWithAKeyOfAnotherKind) {
  const auto& ec = key_of(Algorithm::es256);
  for (const Algorithm claimed : {Algorithm::rs256, Algorithm::es384, Algorithm::eddsa, Algorithm::ps256}) {
    const std::string token = ec.token(kClaims, {{"alg", to_string(claimed)}});
    const auto checked = check(token, keys({ec.jwk()}));
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().kind(), ErrorKind::not_found) << "no key fits " << to_string(claimed);
    EXPECT_FALSE(check(token, keys({ec.jwk(), key_of(claimed).jwk()})));
  }
  // PKCS #1 is not PSS.
  const auto& rsa = key_of(Algorithm::rs256);
  EXPECT_FALSE(check(rsa.token(kClaims, {{"alg", "PS256"}}), keys({rsa.jwk()})));
}

// OAU-01: a key for another use.
TEST(Jwt, IsRefusedWithAKeyForAnotherUse) {
  const auto& signer = key_of(Algorithm::rs256);
  auto jwk = signer.jwk();
  jwk["use"] = "enc";
  EXPECT_FALSE(check(signer.token(kClaims), keys({jwk})));
  jwk["use"] = "sig";
  jwk["alg"] = "PS256";
  EXPECT_FALSE(check(signer.token(kClaims), keys({jwk})));
}

TEST(Jwt, IsRefusedWithAnAlgorithmThatTheSettingsDoNotName) {
  const auto& signer = key_of(Algorithm::es256);
  const Algorithm only = Algorithm::rs256;
  const auto checked = check(signer.token(kClaims), keys({signer.jwk()}), {&only, 1});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind(), ErrorKind::unauthenticated);
}

// OAU-01: a key that the token itself brings is not trusted.
TEST(Jwt, IsNotCheckedByAKeyOrAPlaceOfItsOwn) {
  const SigningKey stranger(Algorithm::es256, "key");
  const auto set = keys({key_of(Algorithm::es256).jwk()});
  for (const auto* const name : {"jku", "x5u"})
    EXPECT_FALSE(check(stranger.token(kClaims, {{name, "https://attacker.example/keys"}}), set)) << name;
  EXPECT_FALSE(check(stranger.token(kClaims, {{"jwk", stranger.jwk()}}), set));
}

// OAU-01: the name of a key is only compared, never interpreted.
TEST(Jwt, FindsNoKeyByAPathAUrlOrAQuery) {
  const auto& signer = key_of(Algorithm::es256);
  const auto set = keys({signer.jwk()});
  for (const std::string& name :
       {std::string("../../dev/null"), std::string("/etc/passwd"), std::string("https://attacker.example/keys"),
        std::string("key' OR '1'='1"), std::string("key\0x", 5), std::string("KEY"), std::string("key ")}) {
    const auto checked = check(signer.token(kClaims, {{"kid", name}}), set);
    ASSERT_FALSE(checked) << name;
    EXPECT_EQ(checked.error().kind(), ErrorKind::not_found);
  }
  EXPECT_FALSE(Jwt::parse(signer.token(kClaims, {{"kid", 1}})));
  EXPECT_FALSE(Jwt::parse(signer.token(kClaims, {{"kid", boost::json::array{"key"}}})));
  EXPECT_FALSE(Jwt::parse(signer.token(kClaims, {{"kid", std::string(2000, 'k')}})));
}

TEST(Jwt, IsTriedWithAllKeysThatFitWhereItNamesNone) {
  const SigningKey nameless(Algorithm::es256);
  const std::string token = nameless.token(kClaims);
  EXPECT_TRUE(check(token, keys({key_of(Algorithm::rs256).jwk(), key_of(Algorithm::es256).jwk(), nameless.jwk()})));
  const auto checked = check(token, keys({key_of(Algorithm::es256).jwk()}));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind(), ErrorKind::not_found) << "newer keys may help";
}

// OAU-01
TEST(Jwt, IsRefusedWithCriticalExtensions) {
  for (const auto* const crit : {R"(["exp"])", R"([])", R"("b64")", R"(["b64"])"})
    EXPECT_FALSE(Jwt::parse(with_header(fmt::format(R"({{"alg":"ES256","kid":"key","crit":{}}})", crit)))) << crit;
  EXPECT_FALSE(Jwt::parse(with_header(R"({"alg":"ES256","kid":"key","b64":false})")));
}

TEST(Jwt, IsRefusedWithAClaimOrAHeaderTwice) {
  EXPECT_TRUE(Jwt::parse(with_payload(R"({"sub":"mia"})")));
  EXPECT_FALSE(Jwt::parse(with_payload(R"({"sub":"mia","sub":"root"})")));
  EXPECT_FALSE(Jwt::parse(with_payload(R"({"sub":"mia","s\u0075b":"root"})"))) << "escaped";
  EXPECT_FALSE(Jwt::parse(with_payload(R"({"realm":{"roles":[],"roles":["admin"]}})"))) << "inside";
  EXPECT_FALSE(Jwt::parse(with_header(R"({"alg":"ES256","alg":"RS256"})")));
}

TEST(Jwt, IsRefusedWhereItIsTooLargeOrTooDeep) {
  const auto deep = [](std::size_t depth) {
    return with_payload(R"({"a":)" + std::string(depth, '[') + std::string(depth, ']') + "}");
  };
  EXPECT_TRUE(Jwt::parse(deep(Jwt::kMaxDepth - 1)));
  EXPECT_FALSE(Jwt::parse(deep(Jwt::kMaxDepth)));
  EXPECT_FALSE(Jwt::parse(deep(4000)));
  const std::string large = with_payload(R"({"a":")" + std::string(13'000, 'a') + "\"}");
  ASSERT_GT(large.size(), Jwt::kMaxBytes);
  const auto read = Jwt::parse(large);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind(), ErrorKind::too_large);
  EXPECT_FALSE(Jwt::is_meant(large));
}

TEST(Jwt, IsRefusedInAnyOtherSpelling) {
  const std::string token = key_of(Algorithm::es256).token(kClaims);
  EXPECT_TRUE(Jwt::parse(token));
  for (const std::string& other : {token + "=", token + ".", "." + token, token + " ", " " + token, token + ".AA",
                                   token.substr(0, token.rfind('.')), std::string(), std::string(".."),
                                   std::string("a.b.c"), std::string("e30.e30.e30")})
    EXPECT_FALSE(Jwt::parse(other)) << other;
  EXPECT_FALSE(Jwt::parse(with_payload("[]")));
  EXPECT_FALSE(Jwt::parse(with_payload("{}{}")));
  EXPECT_FALSE(Jwt::parse(with_payload("{\"a\":\"\xff\"}"))) << "not UTF-8";
  EXPECT_FALSE(Jwt::parse(with_header("\"alg\"")));
}

TEST(Jwt, IsToldFromOpaqueTokens) {
  EXPECT_TRUE(Jwt::is_meant(key_of(Algorithm::es256).token(kClaims)));
  for (const auto* const token : {"", "abc", "a.b", "a.b.c", "..", "v2.local.payload", "1.2.3.4.5"})
    EXPECT_FALSE(Jwt::is_meant(token)) << token;
}

// An ID token sent as an access token, and other tokens that the same issuer signs with the same key.
TEST(Jwt, IsRefusedWhereItIsNoAccessToken) {
  const auto accepts = [](const boost::json::object& claims, const boost::json::object& header) {
    const auto token = key_of(Algorithm::es256).token(claims, header);
    return check_is_access_token(Jwt::parse(token).value()).has_value();
  };
  EXPECT_TRUE(accepts({}, {{"typ", "at+jwt"}}));
  EXPECT_TRUE(accepts({}, {{"typ", "application/at+JWT"}}));
  EXPECT_TRUE(accepts({{"scope", "tools"}}, {{"typ", "JWT"}}));
  EXPECT_TRUE(accepts({{"azp", "client"}}, {}));
  EXPECT_FALSE(accepts({}, {{"typ", "JWT"}})) << "the barest ID token";
  EXPECT_TRUE(accepts({{"azp", "client"}, {"aud", "https://gateway.example/mcp"}}, {}));
  for (const boost::json::value& audience : std::initializer_list<boost::json::value>{
           "client", boost::json::array{"client"}, boost::json::array{"other", "client"}}) {
    EXPECT_FALSE(accepts({{"azp", "client"}, {"aud", audience}}, {})) << "an ID token is for the client itself";
    EXPECT_TRUE(accepts({{"azp", "client"}, {"aud", audience}, {"scp", "tools"}}, {}));
  }
  EXPECT_FALSE(accepts({}, {}));
  EXPECT_TRUE(accepts({{"typ", "Bearer"}, {"nonce", "n"}}, {{"typ", "JWT"}})) << "as Keycloak wrote them";
  EXPECT_TRUE(accepts({{"scp", "tools"}, {"nonce", "n"}}, {{"typ", "JWT"}}));
  for (const auto* const type : {"dpop+jwt", "logout+jwt", "secevent+jwt", "id_token+jwt", "JOSE", "x"})
    EXPECT_FALSE(accepts({}, {{"typ", type}})) << type;
  for (const auto* const claim : {"nonce", "at_hash", "c_hash", "s_hash", "events"})
    EXPECT_FALSE(accepts({{claim, "x"}}, {{"typ", "JWT"}})) << claim;
  EXPECT_FALSE(accepts({{"at_hash", "x"}, {"scope", "openid"}}, {}));
  for (const auto* const kind : {"ID", "Refresh", "Logout", "Offline"})
    EXPECT_FALSE(accepts({{"typ", kind}}, {{"typ", "JWT"}})) << kind;
}

// OAU-12
TEST(Jwt, IsNotQuotedByErrors) {
  for (const std::string& token :
       {with_payload(R"({"s3cret":})"), with_header(R"({"alg":"s3cret"})"), std::string("s3cret.s3cret.s3cret"),
        key_of(Algorithm::es256, "s3cret").token(kClaims)}) {
    const auto checked = check(token, keys({key_of(Algorithm::es256).jwk()}));
    ASSERT_FALSE(checked);
    EXPECT_FALSE(checked.error().message().contains("s3cret")) << checked.error().message();
  }
}

}  // namespace
}  // namespace proteus::auth
