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

// A public key that signatures are checked by. Immutable, cheap to copy, for any thread.
class PublicKey {
 public:
  // Of a JWK (RFC 7517): RSA of 2048 to 8192 bits, EC on P-256 or P-384, or Ed25519. A key with a private part is
  // refused: whoever published it, others may sign with it. Numbers must be in their one spelling (RFC 7518, 2), so
  // that a key has one thumbprint.
  static Result<PublicKey> read(const boost::json::object& jwk);

  KeyKind kind() const { return kind_; }
  // The SHA-256 thumbprint of RFC 7638, in base64url.
  const std::string& thumbprint() const { return thumbprint_; }
  // Whether it is of the kind that the algorithm signs with.
  bool fits(Algorithm algorithm) const;
  // False too where it does not fit.
  bool verifies(Algorithm algorithm, std::string_view text, std::string_view signature) const;

 private:
  PublicKey(KeyKind kind, std::shared_ptr<EVP_PKEY> key, std::string thumbprint);

  KeyKind kind_;
  std::shared_ptr<EVP_PKEY> key_;
  std::string thumbprint_;
};

}  // namespace proteus::auth
