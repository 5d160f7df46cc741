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

// Certificates and rules for TLS connections, 1.2 at least; ALPN selects HTTP/1.1. Cheap to copy, safe to share between
// threads. A stream keeps its context alive, so a renewed certificate takes effect with the next connection.
class TlsContext {
 public:
  // Reads both files as PEM. The chain starts with the server's own certificate.
  static Result<TlsContext> server(const std::filesystem::path& certificate_chain,
                                   const std::filesystem::path& private_key);

  // Verifies the peer against the system's certificate authorities, or against `authorities` (PEM) alone if given.
  static Result<TlsContext> client(const std::filesystem::path& authorities = {});

  // For two sides that share nothing but a secret: TLS 1.3 with a pre-shared key of 32 bytes and an ephemeral key
  // exchange, so that recorded traffic stays secret even if the key leaks. No certificate is shown or accepted: without
  // the key, no handshake with either side can complete. ALPN selects the frames of a Multiplexer.
  static TlsContext server_with_key(std::string_view key);
  static TlsContext client_with_key(std::string_view key);

  SSL_CTX* native_handle() const { return context_.get(); }

 private:
  explicit TlsContext(std::shared_ptr<SSL_CTX> context) : context_(std::move(context)) {}

  std::shared_ptr<SSL_CTX> context_;
};

// Layers TLS over another stream. `Stream::handshake` must come next.
Stream tls_server_stream(Stream below, const TlsContext& context);

// Accepts only a certificate for `host`, and sends `host` as SNI unless it is an IP address (without brackets).
Stream tls_client_stream(Stream below, const TlsContext& context, const std::string& host);

}  // namespace proteus::net
