#include "auth/tokens/private_key.hpp"

#include <stdexcept>
#include <utility>

#include <boost/json/serialize.hpp>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "auth/tokens/openssl.hpp"
#include "base/text/base64.hpp"

namespace proteus::auth {
namespace {

using Memory = std::unique_ptr<BIO, Freed<BIO_free_all>>;

KeyPointer made(Algorithm algorithm) {
  const auto make = [&]() -> EVP_PKEY* {
    switch (algorithm) {
      case Algorithm::rs256:
      case Algorithm::ps256: return EVP_RSA_gen(2048);
      case Algorithm::es256: return EVP_EC_gen("P-256");
      case Algorithm::es384: return EVP_EC_gen("P-384");
      case Algorithm::eddsa: return EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
    }
    return nullptr;
  };
  return {make(), EVP_PKEY_free};
}

// Returns a number of the key in base64url, padded to `size` bytes unless `size` is zero.
std::string number_in(EVP_PKEY* key, const char* name, int size = 0) {
  BIGNUM* found = nullptr;
  if (EVP_PKEY_get_bn_param(key, name, &found) != 1) return {};
  const Number owned(found);
  std::string bytes(static_cast<std::size_t>(size == 0 ? BN_num_bytes(found) : size), '\0');
  BN_bn2binpad(found, reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  return base64_encode(bytes, Base64::url);
}

std::string curve_of(EVP_PKEY* key) {
  std::string name(64, '\0');
  std::size_t size = 0;
  if (EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_GROUP_NAME, name.data(), name.size(), &size) != 1) return {};
  name.resize(size);
  return name;
}

boost::json::object public_part(EVP_PKEY* key) {
  if (EVP_PKEY_is_a(key, "RSA") == 1) {
    return {{"kty", "RSA"}, {"n", number_in(key, OSSL_PKEY_PARAM_RSA_N)}, {"e", number_in(key, OSSL_PKEY_PARAM_RSA_E)}};
  }
  if (EVP_PKEY_is_a(key, "EC") == 1) {
    const std::string curve = curve_of(key);
    const bool is_256 = curve == "prime256v1" || curve == "P-256";
    if (!is_256 && curve != "secp384r1" && curve != "P-384") return {};
    const int size = is_256 ? 32 : 48;
    return {{"kty", "EC"},
            {"crv", is_256 ? "P-256" : "P-384"},
            {"x", number_in(key, OSSL_PKEY_PARAM_EC_PUB_X, size)},
            {"y", number_in(key, OSSL_PKEY_PARAM_EC_PUB_Y, size)}};
  }
  if (EVP_PKEY_is_a(key, "ED25519") == 1) {
    std::string bytes(32, '\0');
    std::size_t size = bytes.size();
    if (EVP_PKEY_get_raw_public_key(key, reinterpret_cast<unsigned char*>(bytes.data()), &size) != 1) return {};
    return {{"kty", "OKP"}, {"crv", "Ed25519"}, {"x", base64_encode(bytes, Base64::url)}};
  }
  return {};
}

Algorithm usual_algorithm(KeyKind kind) {
  switch (kind) {
    case KeyKind::rsa: return Algorithm::rs256;
    case KeyKind::p256: return Algorithm::es256;
    case KeyKind::p384: return Algorithm::es384;
    case KeyKind::ed25519: return Algorithm::eddsa;
  }
  return Algorithm::es256;
}

// JWS writes r and s one after the other (RFC 7518, section 3.4).
std::string raw_signature(std::string_view der, int size) {
  const unsigned char* begin = octets(der);
  const EcSignature both(d2i_ECDSA_SIG(nullptr, &begin, static_cast<long>(der.size())));
  if (!both) throw std::runtime_error("OpenSSL made a signature that it cannot read");
  std::string out(static_cast<std::size_t>(size) * 2, '\0');
  auto* bytes = reinterpret_cast<unsigned char*>(out.data());
  BN_bn2binpad(ECDSA_SIG_get0_r(both.get()), bytes, size);
  BN_bn2binpad(ECDSA_SIG_get0_s(both.get()), bytes + size, size);
  return out;
}

std::string encoded(const boost::json::object& object) {
  return base64_encode(boost::json::serialize(object), Base64::url);
}

// Prevents a password prompt at the terminal for an encrypted key.
int no_password(char* /*buffer*/, int /*size*/, int /*for_writing*/, void* /*user*/) { return -1; }

}  // namespace

PrivateKey::PrivateKey(std::shared_ptr<EVP_PKEY> key, Algorithm algorithm, boost::json::object jwk,
                       std::string thumbprint)
    : key_(std::move(key)), algorithm_(algorithm), jwk_(std::move(jwk)), thumbprint_(std::move(thumbprint)) {}

Result<PrivateKey> PrivateKey::with(std::shared_ptr<EVP_PKEY> key, std::optional<Algorithm> algorithm) {
  boost::json::object jwk = public_part(key.get());
  const auto public_key = PublicKey::read(jwk);
  if (!public_key) return std::unexpected(public_key.error());
  const Algorithm chosen = algorithm.value_or(usual_algorithm(public_key->kind()));
  if (!public_key->fits(chosen)) return std::unexpected(errors::invalid("the key does not fit its algorithm"));
  return PrivateKey(std::move(key), chosen, std::move(jwk), public_key->thumbprint());
}

PrivateKey PrivateKey::make(Algorithm algorithm) {
  const QuietErrors quiet;
  KeyPointer key = made(algorithm);
  if (!key) throw std::runtime_error("OpenSSL cannot make a key");
  auto whole = with(std::move(key), algorithm);
  if (!whole) throw std::runtime_error("OpenSSL made a key that cannot be used");
  return std::move(*whole);
}

Result<PrivateKey> PrivateKey::read(const Secret& pem, std::optional<Algorithm> algorithm) {
  const QuietErrors quiet;
  if (pem.reveal().size() > kMaxPem) return std::unexpected(errors::too_large("a private key", kMaxPem));
  const Memory memory(BIO_new_mem_buf(pem.reveal().data(), static_cast<int>(pem.reveal().size())));
  KeyPointer key(PEM_read_bio_PrivateKey(memory.get(), nullptr, no_password, nullptr), EVP_PKEY_free);
  if (!key) return std::unexpected(errors::invalid("the text is no private key in PEM, or an encrypted one"));
  return with(std::move(key), algorithm);
}

Secret PrivateKey::pem() const {
  const QuietErrors quiet;
  const Memory memory(BIO_new(BIO_s_mem()));
  if (!memory || PEM_write_bio_PKCS8PrivateKey(memory.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    throw std::runtime_error("OpenSSL cannot write a key");
  }
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return Secret(std::string(text, static_cast<std::size_t>(size)));
}

std::string PrivateKey::sign(std::string_view text) const {
  const QuietErrors quiet;
  const Hashing hashing(EVP_MD_CTX_new());
  EVP_PKEY_CTX* settings = nullptr;  // owned by the context
  bool is_good = hashing && EVP_DigestSignInit(hashing.get(), &settings, hash_of(algorithm_), nullptr, key_.get()) == 1;
  if (is_good && algorithm_ == Algorithm::ps256) {
    is_good = EVP_PKEY_CTX_set_rsa_padding(settings, RSA_PKCS1_PSS_PADDING) == 1 &&
              EVP_PKEY_CTX_set_rsa_pss_saltlen(settings, RSA_PSS_SALTLEN_DIGEST) == 1;
  }
  std::size_t size = 0;
  is_good = is_good && EVP_DigestSign(hashing.get(), nullptr, &size, octets(text), text.size()) == 1;
  std::string signature(size, '\0');
  auto* bytes = reinterpret_cast<unsigned char*>(signature.data());
  if (!is_good || EVP_DigestSign(hashing.get(), bytes, &size, octets(text), text.size()) != 1)
    throw std::runtime_error("OpenSSL cannot sign");
  signature.resize(size);
  const int number_size = ec_number_size(algorithm_);
  return number_size == 0 ? signature : raw_signature(signature, number_size);
}

std::string PrivateKey::sign_token(boost::json::object header, const boost::json::object& claims) const {
  header["alg"] = to_string(algorithm_);
  std::string text = encoded(header) + "." + encoded(claims);
  const std::string signature = base64_encode(sign(text), Base64::url);
  text += "." + signature;
  return text;
}

}  // namespace proteus::auth
