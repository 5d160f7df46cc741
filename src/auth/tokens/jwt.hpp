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

// JSON Web Tokens in compact form (RFC 7515, RFC 7519). Errors say what is wrong and never quote the token.
namespace proteus::auth {

// A parsed token. Nothing in it can be trusted before its signature is verified. The parsed text must outlive it.
class Jwt {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{16} * 1024;
  static constexpr std::size_t kMaxDepth = 32;

  // Fails unless the text consists of three base64url parts, of which the first two are JSON objects without repeated
  // keys. Also fails if the token is unsigned, is signed with a shared secret, or has critical extensions, because none
  // is supported.
  static Result<Jwt> parse(std::string_view text);
  // Returns whether the text looks like a JWT. Other tokens are opaque.
  static bool is_meant(std::string_view text);
  // Returns the issuer that the text names, even if the token could not be accepted; empty if it names none.
  static std::string claimed_issuer(std::string_view text);

  Algorithm algorithm() const { return algorithm_; }
  // `kid`; empty if absent.
  const std::string& key_id() const { return key_id_; }
  // `typ` in lower case, without "application/"; empty if absent.
  const std::string& type() const { return type_; }
  const boost::json::object& header() const { return header_; }
  const boost::json::object& payload() const { return payload_; }

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

// Checks that the issuer signed the token. Fails with `not_found` if newer keys may help: no known key fits the token,
// or the token names no key and no known key verifies it. Fails with `unauthenticated` if the signature is wrong or its
// algorithm is not in `allowed`.
Result<> check_signature(const Jwt& token, const KeySet& keys, std::span<const Algorithm> allowed);

// Rejects tokens that an issuer signs for other purposes: ID tokens, proofs, logout tokens. RFC 9068 gives access
// tokens their own `typ`. Many issuers do not use it yet; their access tokens are recognised by their claims.
Result<> check_is_access_token(const Jwt& token);

}  // namespace proteus::auth
