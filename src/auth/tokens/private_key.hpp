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
#include "base/secret.hpp"

namespace proteus::auth {

// A key that signs: client assertions and DPoP proofs. Immutable, cheap to copy, for any thread.
class PrivateKey {
 public:
  static constexpr std::size_t kMaxPem = std::size_t{64} * 1024;

  // A new one. Throws where OpenSSL cannot make one, which nothing can go on without.
  static PrivateKey make(Algorithm algorithm = Algorithm::es256);
  // Of a PEM text, unencrypted. It must be of a kind that PublicKey takes; the algorithm is that which its kind signs
  // with, RS256 for RSA where none is named.
  static Result<PrivateKey> read(const Secret& pem, std::optional<Algorithm> algorithm = std::nullopt);

  // PKCS #8.
  Secret pem() const;
  Algorithm algorithm() const { return algorithm_; }
  // The public part.
  const boost::json::object& jwk() const { return jwk_; }
  // RFC 7638.
  const std::string& thumbprint() const { return thumbprint_; }

  // As JWS has it.
  std::string sign(std::string_view text) const;
  // A JWT in compact form. `alg` is added to the header.
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
