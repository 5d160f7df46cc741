#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>
#include <proteus/error.hpp>

#include "auth/tokens/algorithm.hpp"
#include "auth/tokens/claims.hpp"
#include "auth/tokens/key_set.hpp"

// JSON Web Tokens in compact form (RFC 7515, 7519). Errors say what is wrong and never quote the token.
namespace proteus::auth {

// A token taken apart. Nothing in it is to be believed before its signature was checked. The text must outlive it.
class Jwt {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{16} * 1024;
  static constexpr std::size_t kMaxDepth = 32;

  // Fails where it is not three parts of base64url, of which two are objects without a key twice; where it has critical
  // extensions, because none is understood; and where it is unsigned or signed with a shared secret.
  static Result<Jwt> parse(std::string_view text);
  // Whether a text is meant as one; others are opaque.
  static bool is_meant(std::string_view text);
  // The issuer that a text names, whether or not it could be accepted; empty for none.
  static std::string claimed_issuer(std::string_view text);

  Algorithm algorithm() const { return algorithm_; }
  // `kid`; empty for none.
  const std::string& key_id() const { return key_id_; }
  // `typ` in lower case and without "application/"; empty for none.
  const std::string& type() const { return type_; }
  const boost::json::object& header() const { return header_; }
  const boost::json::object& payload() const { return payload_; }

  // By one key.
  bool is_signed_by(const PublicKey& key) const { return key.verifies(algorithm_, signed_text_, signature_); }

 private:
  Jwt() = default;
  Result<> read_header();

  boost::json::object header_;
  boost::json::object payload_;
  std::string_view signed_text_;
  std::string signature_;
  Algorithm algorithm_ = Algorithm::rs256;
  std::string key_id_;
  std::string type_;
};

// Whether an issuer signed it. Fails with `not_found` where no known key may have signed it, so that newer keys may
// help; with `unauthenticated` where the signature is wrong or its algorithm is not allowed.
Result<> check_signature(const Jwt& token, const KeySet& keys, std::span<const Algorithm> allowed);

// Refuses what an issuer signed for another purpose: an ID token, a proof, a logout token. RFC 9068 gives access tokens
// a type of their own, which many issuers do not use yet; those are told by their claims.
Result<> check_is_access_token(const Jwt& token);

}  // namespace proteus::auth
