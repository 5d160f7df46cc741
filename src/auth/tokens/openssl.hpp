#pragma once

#include <memory>
#include <string_view>

#include <openssl/bn.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include "auth/tokens/algorithm.hpp"

// Owners of OpenSSL objects and helpers, for the two files that call OpenSSL.
namespace proteus::auth {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Number = std::unique_ptr<BIGNUM, Freed<BN_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX_free>>;
using Hashing = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;
using EcSignature = std::unique_ptr<ECDSA_SIG, Freed<ECDSA_SIG_free>>;
using KeyPointer = std::shared_ptr<EVP_PKEY>;

inline const unsigned char* octets(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// Clears the thread's OpenSSL error queue at the end of the scope. TLS on the same thread would otherwise take the
// errors left there for its own.
struct QuietErrors {
  QuietErrors() = default;
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;
  ~QuietErrors() { ERR_clear_error(); }
};

inline const EVP_MD* hash_of(Algorithm algorithm) {
  if (algorithm == Algorithm::eddsa) return nullptr;
  return algorithm == Algorithm::es384 ? EVP_sha384() : EVP_sha256();
}

// Returns the length of each of the two numbers of an EC signature; 0 for other algorithms.
inline int ec_number_size(Algorithm algorithm) {
  if (algorithm == Algorithm::es256) return 32;
  return algorithm == Algorithm::es384 ? 48 : 0;
}

}  // namespace proteus::auth
