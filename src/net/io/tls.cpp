#include "net/io/tls.hpp"

#include <algorithm>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "net/io/tls_error.hpp"

namespace proteus::net {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kRecord = 16UL * 1024;
struct Free {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

// Clears the thread's OpenSSL errors, because SSL_get_error also reports those that earlier calls left behind. Clearing
// takes fifty calls even if there are none, so this checks first.
void forget_errors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

// The transport below the BIO of a connection, and its last error.
struct Below {
  std::unique_ptr<Transport> transport;
  ErrorCode error;
};

// A BIO over a Transport. Never waits and, unlike OpenSSL's own BIO over a socket, raises no SIGPIPE.
int bio_read(BIO* bio, char* data, int size) {
  BIO_clear_retry_flags(bio);
  auto* below = static_cast<Below*>(BIO_get_data(bio));
  const IoResult got = below->transport->try_read({data, static_cast<std::size_t>(size)});
  if (!got.error) return static_cast<int>(got.size);
  below->error = got.error;
  if (got.error == asio::error::would_block) BIO_set_retry_read(bio);
  return got.error == asio::error::eof ? 0 : -1;
}

int bio_write(BIO* bio, const char* data, int size) {
  BIO_clear_retry_flags(bio);
  auto* below = static_cast<Below*>(BIO_get_data(bio));
  const std::string_view part(data, static_cast<std::size_t>(size));
  const IoResult sent = below->transport->try_write({&part, 1});
  if (sent.size > 0) return static_cast<int>(sent.size);
  below->error = sent.error;
  if (sent.error == asio::error::would_block) BIO_set_retry_write(bio);
  return -1;
}

long bio_control(BIO* bio, int command, long /*number*/, void* /*pointer*/) {
  if (command == BIO_CTRL_EOF) return static_cast<Below*>(BIO_get_data(bio))->error == asio::error::eof ? 1 : 0;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* transport_bio() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "transport");
    BIO_meth_set_read(made, bio_read);
    BIO_meth_set_write(made, bio_write);
    BIO_meth_set_ctrl(made, bio_control);
    return made;
  }();
  return method;
}

class TlsTransport final : public Transport {
 public:
  enum class Role { client, server };

  TlsTransport(std::unique_ptr<Transport> below, const TlsContext& context, Role role)
      : below_{std::move(below), {}}, ssl_(SSL_new(context.native_handle())) {
    if (!ssl_) throw std::bad_alloc();
    BIO* bio = BIO_new(transport_bio());
    if (bio == nullptr) throw std::bad_alloc();
    BIO_set_data(bio, &below_);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_.get(), bio, bio);
    role == Role::server ? SSL_set_accept_state(ssl_.get()) : SSL_set_connect_state(ssl_.get());
  }

  SSL* ssl() { return ssl_.get(); }

  IoResult try_read(std::span<char> into) override {
    if (into.empty()) return {};
    forget_errors();
    std::size_t size = 0;
    const int outcome = SSL_read_ex(ssl_.get(), into.data(), into.size(), &size);
    read_waits_for_ = outcome == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl_.get(), outcome);
    if (outcome == 1) return {{}, size};
    return {to_error(read_waits_for_), 0};
  }

  IoResult try_write(std::span<const std::string_view> parts) override {
    std::size_t written = 0;
    std::size_t offset = 0;  // into the first part
    while (true) {
      const std::string_view record = gather(parts, offset);
      if (record.empty()) return {{}, written};
      if (written >= kMostAtOnce) return {asio::error::would_block, written};
      forget_errors();
      std::size_t size = 0;
      const int outcome = SSL_write_ex(ssl_.get(), record.data(), record.size(), &size);
      write_waits_for_ = outcome == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl_.get(), outcome);
      if (outcome != 1) return {to_error(write_waits_for_), written};
      written += size;
      offset += size;
      while (!parts.empty() && offset >= parts.front().size()) {
        offset -= parts.front().size();
        parts = parts.subspan(1);
      }
    }
  }

  // OpenSSL may hold bytes that it has read from below and not yet returned. But once it has reported that it needs
  // more, it holds only an incomplete record.
  Task<Waited> wait_readable() override {
    if (read_waits_for_ == SSL_ERROR_WANT_WRITE) return below_.transport->wait_writable();
    if (holds_bytes()) return done();
    return below_.transport->wait_readable();
  }

  bool has_news() const override {
    return holds_bytes() || read_waits_for_ == SSL_ERROR_WANT_WRITE || below_.transport->has_news();
  }

  bool has_unread() const override { return holds_bytes() || below_.transport->has_unread(); }

  Task<Waited> wait_writable() override {
    return write_waits_for_ == SSL_ERROR_WANT_READ ? below_.transport->wait_readable()
                                                   : below_.transport->wait_writable();
  }

  void on_readable(std::move_only_function<void(ErrorCode)> notify) override {
    if (holds_bytes()) {
      asio::post(executor(), [notify = std::move(notify)]() mutable { notify({}); });
    } else {
      below_.transport->on_readable(std::move(notify));
    }
  }

  void on_writable(std::move_only_function<void(ErrorCode)> notify) override {
    if (write_waits_for_ == SSL_ERROR_WANT_READ) {
      below_.transport->on_readable(std::move(notify));
    } else {
      below_.transport->on_writable(std::move(notify));
    }
  }

  void stop_waiting() override { below_.transport->stop_waiting(); }

  Task<Result<>> handshake() override {
    while (true) {
      forget_errors();
      const int outcome = SSL_do_handshake(ssl_.get());
      if (outcome == 1) co_return Result<>{};
      const int reason = SSL_get_error(ssl_.get(), outcome);
      ErrorCode error;
      if (reason == SSL_ERROR_WANT_READ) {
        std::tie(error) = co_await below_.transport->wait_readable();
      } else if (reason == SSL_ERROR_WANT_WRITE) {
        std::tie(error) = co_await below_.transport->wait_writable();
      } else {
        co_return std::unexpected(handshake_error(reason));
      }
      if (error) co_return std::unexpected(errors::unreachable("TLS handshake: " + error.message()));
    }
  }

  void shutdown() override {
    forget_errors();
    if (SSL_is_init_finished(ssl_.get()) == 1) SSL_shutdown(ssl_.get());
    forget_errors();
    below_.transport->shutdown();
  }

  void close() override { below_.transport->close(); }

  int native_handle() const override { return below_.transport->native_handle(); }
  bool is_tls() const override { return true; }
  const Peer& peer() const override { return below_.transport->peer(); }
  Executor executor() const override { return below_.transport->executor(); }

 private:
  static Task<Waited> done() { co_return Waited{}; }

  bool holds_bytes() const { return read_waits_for_ != SSL_ERROR_WANT_READ && SSL_has_pending(ssl_.get()) == 1; }

  // Returns up to one record of the parts, contiguous. OpenSSL demands that a retry after would_block passes the same
  // bytes again. It does, because the caller retries with exactly the bytes that were not taken.
  std::string_view gather(std::span<const std::string_view> parts, std::size_t offset) {
    while (!parts.empty() && offset >= parts.front().size()) {
      offset -= parts.front().size();
      parts = parts.subspan(1);
    }
    if (parts.empty()) return {};
    const std::string_view first = parts.front().substr(offset);
    if (parts.size() == 1 || first.size() >= kRecord) return first.substr(0, kRecord);
    record_.assign(first);
    for (const std::string_view part : parts.subspan(1)) {
      record_.append(part.substr(0, kRecord - record_.size()));
      if (record_.size() == kRecord) break;
    }
    return record_;
  }

  ErrorCode to_error(int reason) const {
    switch (reason) {
      case SSL_ERROR_WANT_READ:
      case SSL_ERROR_WANT_WRITE: return asio::error::would_block;
      case SSL_ERROR_ZERO_RETURN: return asio::error::eof;
      case SSL_ERROR_SSL: {
        const unsigned long code = ERR_get_error();
        forget_errors();
        if (ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING) return asio::ssl::error::stream_truncated;
        return {static_cast<int>(code), asio::error::get_ssl_category()};
      }
      default: return below_.error ? below_.error : ErrorCode(asio::error::connection_reset);
    }
  }

  Error handshake_error(int reason) const {
    if (const long verdict = SSL_get_verify_result(ssl_.get()); verdict != X509_V_OK) {
      return errors::unreachable(fmt::format("TLS handshake: the peer's certificate is not accepted: {}",
                                             X509_verify_cert_error_string(verdict)));
    }
    if (reason == SSL_ERROR_SSL) return errors::unreachable("TLS handshake: " + tls_library_error());
    return errors::unreachable("TLS handshake: the connection was closed");
  }

  Below below_;
  std::unique_ptr<SSL, Free> ssl_;
  int read_waits_for_ = SSL_ERROR_NONE;
  int write_waits_for_ = SSL_ERROR_NONE;
  std::string record_;
};

bool is_address(const std::string& host) {
  ASN1_OCTET_STRING* parsed = a2i_IPADDRESS(host.c_str());
  const bool yes = parsed != nullptr;
  ASN1_OCTET_STRING_free(parsed);
  return yes;
}

}  // namespace

Stream tls_server_stream(Stream below, const TlsContext& context) {
  return Stream(std::make_unique<TlsTransport>(below.release(), context, TlsTransport::Role::server));
}

Stream tls_client_stream(Stream below, const TlsContext& context, const std::string& host) {
  auto transport = std::make_unique<TlsTransport>(below.release(), context, TlsTransport::Role::client);
  if (is_address(host)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(transport->ssl()), host.c_str());
  } else {
    SSL_set_tlsext_host_name(transport->ssl(), host.c_str());
    SSL_set1_host(transport->ssl(), host.c_str());
  }
  return Stream(std::move(transport));
}

}  // namespace proteus::net
