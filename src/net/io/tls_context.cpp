// Certificates, keys and rules of TLS. The streams are in tls.cpp.
#include <array>
#include <system_error>

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "net/io/tls.hpp"
#include "net/io/tls_error.hpp"

namespace proteus::net {
namespace {

constexpr std::array<unsigned char, 9> kAlpn = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
// The frames of a Multiplexer, between processes.
constexpr std::array<unsigned char, 10> kPeersAlpn = {9, 'p', 'r', 'o', 't', 'e', 'u', 's', '/', '1'};

std::shared_ptr<SSL_CTX> make_context(const SSL_METHOD* method) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(method), SSL_CTX_free);
  if (!context) throw std::bad_alloc();
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // Moving buffers: the rest of a write may be gathered at another address. Released buffers: most connections are
  // idle.
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context.get(), 1);
  // By default, OpenSSL would prompt on the terminal.
  SSL_CTX_set_default_passwd_cb(context.get(), [](char*, int, int, void*) { return -1; });
  return context;
}

template <const auto& kOurs>
int choose_protocol(SSL* /*ssl*/, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                    unsigned int offered_size, void* /*argument*/) {
  unsigned char* match = nullptr;
  if (SSL_select_next_proto(&match, size, kOurs.data(), kOurs.size(), offered, offered_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *chosen = match;
  return SSL_TLSEXT_ERR_OK;
}

// Returns the index of the key that a context stores and frees.
int preshared_key_index() {
  static const int index = SSL_CTX_get_ex_new_index(
      0, nullptr, nullptr, nullptr,
      [](void* /*parent*/, void* key, CRYPTO_EX_DATA* /*data*/, int /*index*/, long /*number*/, void* /*pointer*/) {
        const std::unique_ptr<std::string> owned(static_cast<std::string*>(key));
        if (owned) OPENSSL_cleanse(owned->data(), owned->size());
      });
  return index;
}

constexpr std::string_view kKeyName = "proteus";

// Makes a session with the pre-shared key, as if it had been negotiated before. Returns null if OpenSSL rejects any of
// it.
SSL_SESSION* preshared_session(SSL* ssl) {
  constexpr std::array<unsigned char, 2> kAes128GcmSha256 = {0x13, 0x01};
  const auto* key = static_cast<const std::string*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), preshared_key_index()));
  const SSL_CIPHER* cipher = SSL_CIPHER_find(ssl, kAes128GcmSha256.data());
  SSL_SESSION* session = SSL_SESSION_new();
  if (key != nullptr && cipher != nullptr && session != nullptr &&
      SSL_SESSION_set1_master_key(session, reinterpret_cast<const unsigned char*>(key->data()), key->size()) == 1 &&
      SSL_SESSION_set_cipher(session, cipher) == 1 && SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1) {
    return session;
  }
  SSL_SESSION_free(session);
  return nullptr;
}

int use_preshared_key(SSL* ssl, const EVP_MD* /*digest*/, const unsigned char** name, std::size_t* size,
                      SSL_SESSION** session) {
  *name = reinterpret_cast<const unsigned char*>(kKeyName.data());
  *size = kKeyName.size();
  *session = preshared_session(ssl);
  return *session != nullptr ? 1 : 0;
}

int find_preshared_key(SSL* ssl, const unsigned char* name, std::size_t size, SSL_SESSION** session) {
  const bool known = std::string_view(reinterpret_cast<const char*>(name), size) == kKeyName;
  *session = known ? preshared_session(ssl) : nullptr;
  return 1;
}

std::shared_ptr<SSL_CTX> make_preshared_context(const SSL_METHOD* method, std::string_view key) {
  auto context = make_context(method);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
  SSL_CTX_set_ciphersuites(context.get(), "TLS_AES_128_GCM_SHA256");
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_clear_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);  // few connections, seldom idle
  SSL_CTX_set_ex_data(context.get(), preshared_key_index(), std::make_unique<std::string>(key).release());
  return context;
}

}  // namespace

std::string tls_library_error() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (ERR_SYSTEM_ERROR(code)) return std::generic_category().message(ERR_GET_REASON(code));
  const char* reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : "unknown TLS error";
}

Result<TlsContext> TlsContext::server(const std::filesystem::path& certificate_chain,
                                      const std::filesystem::path& private_key) {
  auto context = make_context(TLS_server_method());
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate_chain.c_str()) != 1) {
    return std::unexpected(
        errors::invalid(fmt::format("certificate {}: {}", certificate_chain.string(), tls_library_error())));
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), private_key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    return std::unexpected(errors::invalid(fmt::format("key {}: {}", private_key.string(), tls_library_error())));
  }
  SSL_CTX_set_options(context.get(), SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol<kAlpn>, nullptr);
  return TlsContext(std::move(context));
}

Result<TlsContext> TlsContext::client(const std::filesystem::path& authorities) {
  auto context = make_context(TLS_client_method());
  ERR_clear_error();
  const int loaded = authorities.empty() ? SSL_CTX_set_default_verify_paths(context.get())
                                         : SSL_CTX_load_verify_file(context.get(), authorities.c_str());
  if (loaded != 1) {
    return std::unexpected(
        errors::invalid(fmt::format("certificate authorities {}: {}", authorities.string(), tls_library_error())));
  }
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_alpn_protos(context.get(), kAlpn.data(), kAlpn.size());
  return TlsContext(std::move(context));
}

TlsContext TlsContext::server_with_key(std::string_view key) {
  auto context = make_preshared_context(TLS_server_method(), key);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_psk_find_session_callback(context.get(), find_preshared_key);
  SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol<kPeersAlpn>, nullptr);
  return TlsContext(std::move(context));
}

TlsContext TlsContext::client_with_key(std::string_view key) {
  auto context = make_preshared_context(TLS_client_method(), key);
  // There are no authorities, so every certificate is rejected.
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_psk_use_session_callback(context.get(), use_preshared_key);
  SSL_CTX_set_alpn_protos(context.get(), kPeersAlpn.data(), kPeersAlpn.size());
  return TlsContext(std::move(context));
}

}  // namespace proteus::net
