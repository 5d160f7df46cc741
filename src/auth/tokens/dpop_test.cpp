#include "auth/tokens/dpop.hpp"

#include <gtest/gtest.h>

#include "auth/testing/signing_key.hpp"
#include "auth/tokens/public_key.hpp"
#include "json/canonical.hpp"

namespace proteus::auth {
namespace {

using namespace std::chrono_literals;
using test::key_of;

const std::string kToken = "access-token";

std::string hash_of(std::string_view token) {
  const auto digest = json::sha256(token);
  return test::encode(std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

// OAU-11
class DpopProof : public testing::Test {
 protected:
  boost::json::object claims() const {
    return {{"jti", "1"},
            {"htm", "POST"},
            {"htu", "https://gateway.example/mcp"},
            {"iat", 10'000},
            {"ath", hash_of(kToken)}};
  }
  boost::json::object header() const { return {{"typ", "dpop+jwt"}, {"jwk", key_.jwk()}}; }
  ProofRules rules() const {
    return {.method = "POST",
            .url = "https://gateway.example/mcp",
            .token = kToken,
            .thumbprint = thumbprint_,
            .now = Clock::Wall(10'000s)};
  }
  std::string fault(const std::string& proof, const ProofRules& rules) const {
    const auto checked = check_proof(proof, rules);
    return checked ? "" : checked.error().message();
  }
  std::string fault(const boost::json::object& claims, const boost::json::object& header) const {
    return fault(key_.token(claims, header), rules());
  }
  std::string fault_with(std::string_view name, const boost::json::value& value) const {
    auto changed = claims();
    changed[name] = value;
    return fault(changed, header());
  }
  std::string fault_with_header(std::string_view name, const boost::json::value& value) const {
    auto changed = header();
    changed[name] = value;
    return fault(claims(), changed);
  }

  const test::SigningKey& key_ = key_of(Algorithm::es256, "");
  std::string thumbprint_ = PublicKey::read(key_.jwk()).value().thumbprint();
};

TEST_F(DpopProof, IsAcceptedWithEachAlgorithm) {
  for (const Algorithm algorithm : kAlgorithms) {
    const auto& key = key_of(algorithm, "");
    const std::string thumbprint = PublicKey::read(key.jwk()).value().thumbprint();
    auto rules_of_key = rules();
    rules_of_key.thumbprint = thumbprint;
    const auto proof = check_proof(key.token(claims(), {{"typ", "dpop+jwt"}, {"jwk", key.jwk()}}), rules_of_key);
    ASSERT_TRUE(proof) << proof.error().message();
    EXPECT_EQ(proof->thumbprint, thumbprint);
    EXPECT_EQ(proof->id, "1");
  }
}

TEST_F(DpopProof, IsRefusedAsAnotherKindOfToken) {
  EXPECT_EQ(fault_with_header("typ", "JWT"), "the proof is a token of another type");
  EXPECT_EQ(fault_with_header("typ", "at+jwt"), "the proof is a token of another type");
  EXPECT_EQ(fault_with_header("crit", boost::json::array{"x"}),
            "the proof cannot be read: the token has critical extensions, of which none is understood");
  EXPECT_NE(fault("nonsense", rules()), "");
  EXPECT_NE(fault("", rules()), "");
}

TEST_F(DpopProof, IsRefusedWithoutASoundPublicKey) {
  EXPECT_EQ(fault(claims(), {{"typ", "dpop+jwt"}}), "the proof has no key");
  EXPECT_EQ(fault_with_header("jwk", "key"), "the proof has no key");
  auto jwk = key_.jwk();
  jwk["d"] = "AQAB";
  EXPECT_EQ(fault_with_header("jwk", jwk),
            "the proof has a key that cannot be used: a key has its private part with it");
  EXPECT_NE(fault_with_header("jwk", boost::json::object{{"kty", "oct"}, {"k", "c2VjcmV0"}}), "");
  EXPECT_NE(fault_with_header("alg", "HS256"), "");
  EXPECT_NE(fault_with_header("alg", "none"), "");
}

TEST_F(DpopProof, IsRefusedWithAKeyThatTheTokenIsNotBoundTo) {
  const test::SigningKey thief(Algorithm::es256);
  EXPECT_EQ(fault(thief.token(claims(), {{"typ", "dpop+jwt"}, {"jwk", thief.jwk()}}), rules()),
            "the proof is made with another key");
  EXPECT_EQ(fault(thief.token(claims(), header()), rules()), "the proof has a wrong signature");
}

TEST_F(DpopProof, IsRefusedForAnotherRequestOrToken) {
  EXPECT_EQ(fault_with("htm", "GET"), "the proof is for another method");
  EXPECT_EQ(fault_with("htm", "post"), "the proof is for another method");
  EXPECT_EQ(fault_with("htm", nullptr), "the proof is for another method");
  EXPECT_EQ(fault_with("ath", boost::json::value(hash_of("another"))), "the proof is for another token");
  EXPECT_EQ(fault_with("ath", nullptr), "the proof is for another token");
  for (const auto* const url :
       {"https://gateway.example/mcp/x", "https://gateway.example/MCP", "http://gateway.example/mcp",
        "https://gateway.example:444/mcp", "https://other.example/mcp", "/mcp", "", "https://user@gateway.example/mcp",
        "https://gateway.example/mcp/", "nonsense"})
    EXPECT_EQ(fault_with("htu", url), "the proof is for another URL") << url;
}

// RFC 9449, section 4.3: without query and fragment, in any equivalent spelling of the URL.
TEST_F(DpopProof, IsForAUrlHoweverItIsWritten) {
  for (const auto* const url :
       {"https://gateway.example:443/mcp", "HTTPS://Gateway.Example/mcp", "https://gateway.example/%6dcp",
        "https://gateway.example/mcp?a=b", "https://gateway.example/mcp#x"})
    EXPECT_EQ(fault_with("htu", url), "") << url;
}

TEST_F(DpopProof, IsRefusedOutsideOfItsTime) {
  EXPECT_EQ(fault_with("iat", 9'940), "");
  EXPECT_EQ(fault_with("iat", 9'939), "the proof is too old");
  EXPECT_EQ(fault_with("iat", 10'060.0), "");
  EXPECT_EQ(fault_with("iat", 10'060.5), "the proof is from the future; do the clocks agree?");
  EXPECT_EQ(fault_with("iat", "10000"), "the proof does not say when it was made");
  EXPECT_EQ(fault_with("iat", nullptr), "the proof does not say when it was made");
  EXPECT_EQ(fault_with("iat", 1e300), "the proof is from the future; do the clocks agree?");
}

TEST_F(DpopProof, NeedsAnId) {
  EXPECT_EQ(fault_with("jti", ""), "the proof has no id, or too long a one");
  EXPECT_EQ(fault_with("jti", 1), "the proof has no id, or too long a one");
  EXPECT_EQ(fault_with("jti", boost::json::value(std::string(1000, 'j'))), "the proof has no id, or too long a one");
}

TEST_F(DpopProof, HasTheNonceWhereOneIsAskedFor) {
  auto strict = rules();
  strict.nonce = "n1";
  EXPECT_EQ(fault(key_.token(claims(), header()), strict), "the proof does not have the nonce");
  auto with = claims();
  with["nonce"] = "n1";
  EXPECT_EQ(fault(key_.token(with, header()), strict), "");
}

}  // namespace
}  // namespace proteus::auth
