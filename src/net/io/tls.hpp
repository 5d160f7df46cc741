#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "net/io/stream.hpp"

extern "C" {
typedef struct ssl_ctx_st SSL_CTX;
}

namespace proteus::net {

// Certificates and rules for TLS connections, 1.2 at least, by ALPN for HTTP/1.1. Cheap to copy, safe to
// share between threads; a stream keeps its context alive, so a renewed one takes effect with the next
// connection.
class TlsContext {
 public:
  // Both files are PEM; the chain starts with the server's own certificate.
  static Result<TlsContext> server(const std::filesystem::path& certificate_chain,
                                   const std::filesystem::path& private_key);

  // Verifies the peer against the system's certificates, or against `authorities` (PEM) alone if that is
  // given.
  static Result<TlsContext> client(const std::filesystem::path& authorities = {});

  // For two sides that share a secret and nothing else: TLS 1.3 with a pre-shared key of 32 bytes and an exchange of
  // fresh ones, so that what was recorded stays closed if the secret gets out. No certificate is shown, and none is
  // accepted: who does not have the key cannot finish a handshake with either side. By ALPN for frames of a
  // Multiplexer.
  static TlsContext server_with_key(std::string_view key);
  static TlsContext client_with_key(std::string_view key);

  SSL_CTX* native_handle() const { return context_.get(); }

 private:
  explicit TlsContext(std::shared_ptr<SSL_CTX> context) : context_(std::move(context)) {}

  std::shared_ptr<SSL_CTX> context_;
};

// TLS over another stream. `Stream::handshake` comes next.
Stream tls_server_stream(Stream below, const TlsContext& context);

// Asks for `host` by SNI and accepts only a certificate for it; `host` may be an IP address, without
// brackets.
Stream tls_client_stream(Stream below, const TlsContext& context, const std::string& host);

}  // namespace proteus::net
