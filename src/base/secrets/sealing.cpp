#include "base/secrets/sealing.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

namespace proteus {
namespace {

constexpr std::size_t kNonce = 12;
constexpr std::size_t kTag = 16;

void check(bool succeeded) {
  if (!succeeded) throw std::runtime_error("OpenSSL refused a basic operation");
}

unsigned char* bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
const unsigned char* bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

// Fetched once, because OpenSSL searches its providers each time a cipher is named.
const EVP_CIPHER* aes_256_gcm() {
  static const EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
  check(cipher != nullptr);
  return cipher;
}

EVP_KDF* hkdf() {
  static EVP_KDF* const kdf = EVP_KDF_fetch(nullptr, "HKDF", nullptr);
  check(kdf != nullptr);
  return kdf;
}

void derive_into(std::span<std::uint8_t> out, std::string_view master, std::string_view purpose) {
  const std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> context(EVP_KDF_CTX_new(hkdf()), EVP_KDF_CTX_free);
  std::string digest = "SHA256";
  std::string secret(master);
  std::string info(purpose);
  const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string("digest", digest.data(), 0),
                                   OSSL_PARAM_construct_octet_string("key", secret.data(), secret.size()),
                                   OSSL_PARAM_construct_octet_string("info", info.data(), info.size()),
                                   OSSL_PARAM_construct_end()};
  check(EVP_KDF_derive(context.get(), out.data(), out.size(), parameters) == 1);
  OPENSSL_cleanse(secret.data(), secret.size());
}

}  // namespace

std::string random_bytes(std::size_t count) {
  std::string out(count, '\0');
  check(RAND_bytes(bytes(out), static_cast<int>(count)) == 1);
  return out;
}

// Compares blocks that fit vector registers, because tokens of identity providers are long and are compared in every
// request. OpenSSL's CRYPTO_memcmp compares byte by byte.
bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  using Block = std::uint64_t __attribute__((vector_size(32)));
  Block differences = {};
  std::size_t at = 0;
  for (; at + sizeof(Block) <= a.size(); at += sizeof(Block)) {
    Block left;
    Block right;
    std::memcpy(&left, a.data() + at, sizeof left);
    std::memcpy(&right, b.data() + at, sizeof right);
    differences |= left ^ right;
  }
  std::uint64_t difference = differences[0] | differences[1] | differences[2] | differences[3];
  for (; at < a.size(); ++at)
    difference |= static_cast<std::uint64_t>(static_cast<unsigned char>(a[at]) ^ static_cast<unsigned char>(b[at]));
  // Hides the result from the optimiser, so that no loop above can end early.
  asm volatile("" : "+r"(difference));
  return difference == 0;
}

std::string derive_bytes(std::string_view master, std::string_view purpose, std::size_t count) {
  std::string out(count, '\0');
  derive_into({bytes(out), count}, master, purpose);
  return out;
}

SealingKey SealingKey::random() {
  SealingKey key;
  check(RAND_bytes(key.key_.data(), static_cast<int>(key.key_.size())) == 1);
  return key;
}

SealingKey SealingKey::derive(std::string_view master, std::string_view purpose) {
  SealingKey key;
  derive_into(key.key_, master, purpose);
  return key;
}

std::string SealingKey::seal(std::string_view plain, std::string_view bound) const {
  return seal_with(random_bytes(kNonce), plain, bound);
}

// The nonce is derived from the text (as in SIV), so that no nonce is used for two texts.
std::string SealingKey::seal_same(std::string_view plain, std::string_view bound) const {
  std::string_view own(reinterpret_cast<const char*>(key_.data()), key_.size());
  const std::string key = derive_bytes(own, "nonces of equal texts", key_.size());
  std::string text = std::to_string(bound.size());
  text += ' ';
  text += bound;
  text += plain;
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned int size = 0;
  check(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes(std::string_view(text)), text.size(),
             bytes(digest), &size) != nullptr);
  return seal_with(digest.substr(0, kNonce), plain, bound);
}

std::string SealingKey::seal_with(std::string nonce, std::string_view plain, std::string_view bound) const {
  std::string out = std::move(nonce);
  out.resize(kNonce + plain.size() + kTag);
  const Cipher cipher(EVP_CIPHER_CTX_new());
  int written = 0;
  check(EVP_EncryptInit_ex(cipher.get(), aes_256_gcm(), nullptr, key_.data(), bytes(out)) == 1);
  check(EVP_EncryptUpdate(cipher.get(), nullptr, &written, bytes(bound), static_cast<int>(bound.size())) == 1);
  check(EVP_EncryptUpdate(cipher.get(), bytes(out) + kNonce, &written, bytes(plain), static_cast<int>(plain.size())) ==
        1);
  check(EVP_EncryptFinal_ex(cipher.get(), bytes(out) + kNonce + plain.size(), &written) == 1);
  check(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, static_cast<int>(kTag),
                            bytes(out) + kNonce + plain.size()) == 1);
  return out;
}

std::optional<std::string> SealingKey::open(std::string_view sealed, std::string_view bound) const {
  if (sealed.size() < kNonce + kTag) return std::nullopt;
  const std::size_t length = sealed.size() - kNonce - kTag;
  std::string plain(length, '\0');
  std::string tag(sealed.substr(kNonce + length));
  const Cipher cipher(EVP_CIPHER_CTX_new());
  int written = 0;
  check(EVP_DecryptInit_ex(cipher.get(), aes_256_gcm(), nullptr, key_.data(), bytes(sealed)) == 1);
  check(EVP_DecryptUpdate(cipher.get(), nullptr, &written, bytes(bound), static_cast<int>(bound.size())) == 1);
  check(EVP_DecryptUpdate(cipher.get(), bytes(plain), &written, bytes(sealed) + kNonce, static_cast<int>(length)) == 1);
  check(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, static_cast<int>(kTag), bytes(tag)) == 1);
  if (EVP_DecryptFinal_ex(cipher.get(), bytes(plain) + length, &written) != 1) return std::nullopt;
  return plain;
}

}  // namespace proteus
