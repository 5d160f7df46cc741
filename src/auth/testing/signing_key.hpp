#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include "auth/tokens/algorithm.hpp"
#include "base/text/base64.hpp"

// For tests: keys with their private part, and tokens that they sign.
namespace proteus::auth::test {

inline std::string encode(std::string_view bytes) { return base64_encode(bytes, Base64::url); }
inline std::string encode(const boost::json::object& object) { return encode(boost::json::serialize(object)); }

class SigningKey {
 public:
  explicit SigningKey(Algorithm algorithm, std::string id = "")
      : algorithm_(algorithm), id_(std::move(id)), key_(make(algorithm), EVP_PKEY_free) {
    if (!key_) throw std::runtime_error("no key could be made");
  }

  Algorithm algorithm() const { return algorithm_; }
  const std::string& id() const { return id_; }

  // Returns the public part.
  boost::json::object jwk() const {
    boost::json::object jwk;
    switch (algorithm_) {
      case Algorithm::rs256:
      case Algorithm::ps256:
        jwk = {
            {"kty", "RSA"}, {"n", encode(number(OSSL_PKEY_PARAM_RSA_N))}, {"e", encode(number(OSSL_PKEY_PARAM_RSA_E))}};
        break;
      case Algorithm::es256:
      case Algorithm::es384:
        jwk = {{"kty", "EC"},
               {"crv", algorithm_ == Algorithm::es256 ? "P-256" : "P-384"},
               {"x", encode(number(OSSL_PKEY_PARAM_EC_PUB_X, coordinate()))},
               {"y", encode(number(OSSL_PKEY_PARAM_EC_PUB_Y, coordinate()))}};
        break;
      case Algorithm::eddsa: {
        std::string bytes(32, '\0');
        std::size_t size = bytes.size();
        EVP_PKEY_get_raw_public_key(key_.get(), reinterpret_cast<unsigned char*>(bytes.data()), &size);
        jwk = {{"kty", "OKP"}, {"crv", "Ed25519"}, {"x", encode(bytes)}};
        break;
      }
    }
    if (!id_.empty()) jwk["kid"] = id_;
    return jwk;
  }

  // Returns the signature in the format of JWS.
  std::string sign(std::string_view text) const {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    EVP_PKEY_CTX* settings = nullptr;
    const EVP_MD* hash = algorithm_ == Algorithm::eddsa   ? nullptr
                         : algorithm_ == Algorithm::es384 ? EVP_sha384()
                                                          : EVP_sha256();
    EVP_DigestSignInit(context.get(), &settings, hash, nullptr, key_.get());
    if (algorithm_ == Algorithm::ps256) {
      EVP_PKEY_CTX_set_rsa_padding(settings, RSA_PKCS1_PSS_PADDING);
      EVP_PKEY_CTX_set_rsa_pss_saltlen(settings, RSA_PSS_SALTLEN_DIGEST);
    }
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    std::size_t size = 0;
    EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size());
    std::string signature(size, '\0');
    EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, bytes, text.size());
    signature.resize(size);
    return coordinate() == 0 ? signature : raw(signature);
  }

  // Returns a signed token. Its header has the algorithm and the key's id, unless `header` overrides them.
  std::string token(const boost::json::object& claims, const boost::json::object& header = {{"typ", "at+jwt"}}) const {
    boost::json::object whole = {{"alg", to_string(algorithm_)}};
    if (!id_.empty()) whole["kid"] = id_;
    for (const auto& member : header)
      whole[member.key()] = member.value();
    return signed_text(encode(whole) + "." + encode(claims));
  }
  std::string signed_text(const std::string& text) const { return text + "." + encode(sign(text)); }

 private:
  static EVP_PKEY* make(Algorithm algorithm) {
    switch (algorithm) {
      case Algorithm::rs256:
      case Algorithm::ps256: return EVP_RSA_gen(2048);
      case Algorithm::es256: return EVP_EC_gen("P-256");
      case Algorithm::es384: return EVP_EC_gen("P-384");
      case Algorithm::eddsa: return EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
    }
    return nullptr;
  }

  int coordinate() const { return algorithm_ == Algorithm::es256 ? 32 : algorithm_ == Algorithm::es384 ? 48 : 0; }

  std::string number(const char* name, int size = 0) const {
    BIGNUM* found = nullptr;
    EVP_PKEY_get_bn_param(key_.get(), name, &found);
    const std::unique_ptr<BIGNUM, decltype(&BN_free)> owned(found, BN_free);
    std::string bytes(static_cast<std::size_t>(size == 0 ? BN_num_bytes(found) : size), '\0');
    BN_bn2binpad(found, reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
    return bytes;
  }

  std::string raw(const std::string& der) const {
    const auto* begin = reinterpret_cast<const unsigned char*>(der.data());
    const std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)> both(
        d2i_ECDSA_SIG(nullptr, &begin, static_cast<long>(der.size())), ECDSA_SIG_free);
    std::string out(static_cast<std::size_t>(coordinate()) * 2, '\0');
    auto* bytes = reinterpret_cast<unsigned char*>(out.data());
    BN_bn2binpad(ECDSA_SIG_get0_r(both.get()), bytes, coordinate());
    BN_bn2binpad(ECDSA_SIG_get0_s(both.get()), bytes + coordinate(), coordinate());
    return out;
  }

  Algorithm algorithm_;
  std::string id_;
  std::shared_ptr<EVP_PKEY> key_;
};

// Returns the key for an algorithm and a name. Each is made once: RSA keys are slow to make.
inline const SigningKey& key_of(Algorithm algorithm, const std::string& id = "key") {
  static std::map<std::pair<Algorithm, std::string>, SigningKey> keys;
  const auto place = std::pair(algorithm, id);
  if (const auto found = keys.find(place); found != keys.end()) return found->second;
  return keys.emplace(place, SigningKey(algorithm, id)).first->second;
}

inline std::string key_set(const std::vector<boost::json::object>& keys) {
  boost::json::array list;
  for (const auto& key : keys)
    list.push_back(key);
  return boost::json::serialize(boost::json::object{{"keys", std::move(list)}});
}

}  // namespace proteus::auth::test
