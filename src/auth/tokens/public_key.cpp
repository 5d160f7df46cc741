#include "auth/tokens/public_key.hpp"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/rsa.h>

#include "auth/tokens/openssl.hpp"
#include "base/text/base64.hpp"
#include "json/canonical.hpp"

namespace proteus::auth {
namespace {

constexpr int kLeastRsaBits = 2048;
constexpr int kMostRsaBits = 8192;
constexpr std::size_t kMostExponentBytes = 8;  // a longer one only makes verification slow

using Builder = std::unique_ptr<OSSL_PARAM_BLD, Freed<OSSL_PARAM_BLD_free>>;
using Parameters = std::unique_ptr<OSSL_PARAM, Freed<OSSL_PARAM_free>>;

Number number_of(std::string_view bytes) {
  return Number(BN_bin2bn(octets(bytes), static_cast<int>(bytes.size()), nullptr));
}

std::string_view text_of(const boost::json::object& jwk, std::string_view name) {
  const auto* value = jwk.if_contains(name);
  const auto* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

// Returns a member in base64url, decoded; nothing if it is absent or not base64url.
std::optional<std::string> bytes_of(const boost::json::object& jwk, std::string_view name) {
  const std::string_view text = text_of(jwk, name);
  if (text.empty()) return std::nullopt;
  return base64_decode(text, Base64::url);
}

KeyPointer owned(EVP_PKEY* key) { return {key, EVP_PKEY_free}; }

KeyPointer from_parameters(const char* type, OSSL_PARAM_BLD* builder) {
  const Parameters parameters(OSSL_PARAM_BLD_to_param(builder));
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1) {
    return nullptr;
  }
  return owned(key);
}

struct Read {
  KeyKind kind;
  KeyPointer key;
  std::string thumbprint_of;  // RFC 7638, section 3: the members that define the key, in order
};

Result<Read> read_rsa(const boost::json::object& jwk) {
  const auto modulus = bytes_of(jwk, "n");
  const auto exponent = bytes_of(jwk, "e");
  if (!modulus || !exponent || modulus->front() == '\0' || exponent->front() == '\0')
    return std::unexpected(errors::invalid("an RSA key needs n and e, in base64url without zeros in front"));
  if (modulus->size() > kMostRsaBits / 8 || exponent->size() > kMostExponentBytes)
    return std::unexpected(errors::invalid("an RSA key is too large"));
  const Number n = number_of(*modulus);
  const Number e = number_of(*exponent);
  if (BN_num_bits(n.get()) < kLeastRsaBits)
    return std::unexpected(errors::invalid("an RSA key has fewer than 2048 bits"));
  if (BN_is_odd(n.get()) == 0 || BN_is_odd(e.get()) == 0 || BN_is_one(e.get()) == 1)
    return std::unexpected(errors::invalid("the numbers of an RSA key make no key"));
  const Builder builder(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get());
  return Read{KeyKind::rsa, from_parameters("RSA", builder.get()),
              fmt::format(R"({{"e":"{}","kty":"RSA","n":"{}"}})", text_of(jwk, "e"), text_of(jwk, "n"))};
}

Result<Read> read_ec(const boost::json::object& jwk) {
  const std::string_view curve = text_of(jwk, "crv");
  if (curve != "P-256" && curve != "P-384")
    return std::unexpected(errors::unsupported("an EC key is on neither P-256 nor P-384"));
  const std::size_t size = curve == "P-256" ? 32 : 48;
  const auto x = bytes_of(jwk, "x");
  const auto y = bytes_of(jwk, "y");
  if (!x || !y || x->size() != size || y->size() != size)
    return std::unexpected(errors::invalid("an EC key needs x and y in full length, in base64url"));
  const std::string point = '\x04' + *x + *y;
  const Builder builder(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, curve.data(), curve.size());
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size());
  KeyPointer key = from_parameters("EC", builder.get());
  if (key) {
    const KeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr));
    if (!context || EVP_PKEY_public_check_quick(context.get()) != 1) key = nullptr;
  }
  return Read{
      curve == "P-256" ? KeyKind::p256 : KeyKind::p384, std::move(key),
      fmt::format(R"({{"crv":"{}","kty":"EC","x":"{}","y":"{}"}})", curve, text_of(jwk, "x"), text_of(jwk, "y"))};
}

Result<Read> read_okp(const boost::json::object& jwk) {
  if (text_of(jwk, "crv") != "Ed25519") return std::unexpected(errors::unsupported("an OKP key is not Ed25519"));
  const auto x = bytes_of(jwk, "x");
  if (!x || x->size() != 32)
    return std::unexpected(errors::invalid("an Ed25519 key needs x of 32 bytes, in base64url"));
  return Read{KeyKind::ed25519, owned(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, octets(*x), x->size())),
              fmt::format(R"({{"crv":"Ed25519","kty":"OKP","x":"{}"}})", text_of(jwk, "x"))};
}

Result<Read> read_any(const boost::json::object& jwk) {
  const std::string_view type = text_of(jwk, "kty");
  if (type == "RSA") return read_rsa(jwk);
  if (type == "EC") return read_ec(jwk);
  if (type == "OKP") return read_okp(jwk);
  return std::unexpected(errors::unsupported("a key is none of RSA, EC and OKP"));
}

// JWS writes r and s one after the other (RFC 7518, section 3.4); OpenSSL wants them in DER.
std::optional<std::string> der_of(std::string_view signature, std::size_t number_size) {
  if (signature.size() != number_size * 2) return std::nullopt;
  Number r = number_of(signature.substr(0, number_size));
  Number s = number_of(signature.substr(number_size));
  const EcSignature both(ECDSA_SIG_new());
  if (!r || !s || !both || ECDSA_SIG_set0(both.get(), r.get(), s.get()) != 1) return std::nullopt;
  static_cast<void>(r.release());
  static_cast<void>(s.release());
  std::array<unsigned char, 128> der;
  unsigned char* end = der.data();
  const int size = i2d_ECDSA_SIG(both.get(), &end);
  if (size <= 0) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(der.data()), static_cast<std::size_t>(size));
}

bool check(EVP_PKEY* key, Algorithm algorithm, std::string_view text, std::string_view signature) {
  const Hashing hashing(EVP_MD_CTX_new());
  EVP_PKEY_CTX* settings = nullptr;  // owned by the context
  if (!hashing || EVP_DigestVerifyInit(hashing.get(), &settings, hash_of(algorithm), nullptr, key) != 1) return false;
  if (algorithm == Algorithm::rs256 && EVP_PKEY_CTX_set_rsa_padding(settings, RSA_PKCS1_PADDING) != 1) return false;
  if (algorithm == Algorithm::ps256 && (EVP_PKEY_CTX_set_rsa_padding(settings, RSA_PKCS1_PSS_PADDING) != 1 ||
                                        EVP_PKEY_CTX_set_rsa_pss_saltlen(settings, RSA_PSS_SALTLEN_DIGEST) != 1)) {
    return false;
  }
  return EVP_DigestVerify(hashing.get(), octets(signature), signature.size(), octets(text), text.size()) == 1;
}

}  // namespace

PublicKey::PublicKey(KeyKind kind, std::shared_ptr<EVP_PKEY> key, std::string thumbprint)
    : kind_(kind), key_(std::move(key)), thumbprint_(std::move(thumbprint)) {}

Result<PublicKey> PublicKey::read(const boost::json::object& jwk) {
  const QuietErrors quiet;
  for (const std::string_view name : {"d", "p", "q", "dp", "dq", "qi", "oth", "k"}) {
    if (jwk.contains(name)) return std::unexpected(errors::invalid("a key has its private part with it"));
  }
  auto read = read_any(jwk);
  if (!read) return std::unexpected(std::move(read.error()));
  if (!read->key) return std::unexpected(errors::invalid("the numbers of a key make no key"));
  return PublicKey(read->kind, std::move(read->key), json::base64url(json::sha256(read->thumbprint_of)));
}

bool PublicKey::fits(Algorithm algorithm) const {
  switch (algorithm) {
    case Algorithm::rs256:
    case Algorithm::ps256: return kind_ == KeyKind::rsa;
    case Algorithm::es256: return kind_ == KeyKind::p256;
    case Algorithm::es384: return kind_ == KeyKind::p384;
    case Algorithm::eddsa: return kind_ == KeyKind::ed25519;
  }
  return false;
}

bool PublicKey::verifies(Algorithm algorithm, std::string_view text, std::string_view signature) const {
  if (!fits(algorithm)) return false;
  const QuietErrors quiet;
  if (const int size = ec_number_size(algorithm); size != 0) {
    const auto der = der_of(signature, static_cast<std::size_t>(size));
    return der && check(key_.get(), algorithm, text, *der);
  }
  return check(key_.get(), algorithm, text, signature);
}

}  // namespace proteus::auth
