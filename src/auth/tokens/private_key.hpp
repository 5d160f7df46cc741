#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>
#include <openssl/types.h>
#include <proteus/error.hpp>

#include "auth/tokens/algorithm.hpp"
#include "auth/tokens/public_key.hpp"
#include "base/secrets/secret.hpp"

namespace proteus::auth {

// A key that signs client assertions and DPoP proofs. Immutable, cheap to copy, thread-safe.
class PrivateKey {
 public:
  static constexpr std::size_t kMaxPem = std::size_t{64} * 1024;

  // Makes a new key. Throws if OpenSSL cannot make one, without which the program cannot work.
  static PrivateKey make(Algorithm algorithm = Algorithm::es256);
  // Reads an unencrypted PEM text. The key must be of a kind that PublicKey accepts, and fit `algorithm`. If no
  // algorithm is given, the key signs with the usual one of its kind: RS256 for RSA.
  static Result<PrivateKey> read(const Secret& pem, std::optional<Algorithm> algorithm = std::nullopt);

  // Returns the key as unencrypted PKCS #8.
  Secret pem() const;
  Algorithm algorithm() const { return algorithm_; }
  // Returns the public part.
  const boost::json::object& jwk() const { return jwk_; }
  // Returns the thumbprint of RFC 7638.
  const std::string& thumbprint() const { return thumbprint_; }

  // Returns the signature in the format of JWS.
  std::string sign(std::string_view text) const;
  // Returns a JWT in compact form. Adds `alg` to the header.
  std::string sign_token(boost::json::object header, const boost::json::object& claims) const;

 private:
  PrivateKey(std::shared_ptr<EVP_PKEY> key, Algorithm algorithm, boost::json::object jwk, std::string thumbprint);
  static Result<PrivateKey> with(std::shared_ptr<EVP_PKEY> key, std::optional<Algorithm> algorithm);

  std::shared_ptr<EVP_PKEY> key_;
  Algorithm algorithm_;
  boost::json::object jwk_;
  std::string thumbprint_;
};

}  // namespace proteus::auth
