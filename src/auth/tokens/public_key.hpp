#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>
#include <openssl/types.h>
#include <proteus/error.hpp>

#include "auth/tokens/algorithm.hpp"

namespace proteus::auth {

enum class KeyKind : std::uint8_t { rsa, p256, p384, ed25519 };

// A public key that verifies signatures. Immutable, cheap to copy, thread-safe.
class PublicKey {
 public:
  // Reads a JWK (RFC 7517): RSA of 2048 to 8192 bits, EC on P-256 or P-384, or Ed25519. Rejects a key with a private
  // part: once it is published, others may sign with it. Numbers must have their canonical encoding (RFC 7518, section
  // 2), so that a key has one thumbprint.
  static Result<PublicKey> read(const boost::json::object& jwk);

  KeyKind kind() const { return kind_; }
  // Returns the SHA-256 thumbprint of RFC 7638, in base64url.
  const std::string& thumbprint() const { return thumbprint_; }
  // Returns whether the key is of the kind that the algorithm needs.
  bool fits(Algorithm algorithm) const;
  // Also returns false if the key does not fit the algorithm.
  bool verifies(Algorithm algorithm, std::string_view text, std::string_view signature) const;

 private:
  PublicKey(KeyKind kind, std::shared_ptr<EVP_PKEY> key, std::string thumbprint);

  KeyKind kind_;
  std::shared_ptr<EVP_PKEY> key_;
  std::string thumbprint_;
};

}  // namespace proteus::auth
