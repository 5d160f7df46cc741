#include "net/tcp_stream.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <sys/socket.h>
#include <sys/uio.h>

namespace proteus::net {
namespace {

namespace asio = boost::asio;

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);

ErrorCode last_error() {
  if (errno == EAGAIN || errno == EWOULDBLOCK) return asio::error::would_block;
  return {errno, boost::system::system_category()};
}

// A client of a socket for both families is known by its own address.
std::string to_text(const asio::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
  }
  return address.to_string();
}

class TcpTransport final : public Transport {
 public:
  explicit TcpTransport(TcpSocket socket) : socket_(std::move(socket)) {
    ErrorCode ignored;
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    const auto remote = socket_.remote_endpoint(ignored);
    if (!ignored) peer_ = {to_text(remote.address()), remote.port()};
  }

  // The system calls are made here and not by Asio's operations, which would go through its queue to
  // complete.
  IoResult try_read(std::span<char> into) override {
    if (!socket_.is_open()) return {asio::error::operation_aborted, 0};
    if (into.empty()) return {};
    while (true) {
      const ssize_t got = ::recv(socket_.native_handle(), into.data(), into.size(), MSG_DONTWAIT);
      if (got > 0) return {{}, static_cast<std::size_t>(got)};
      if (got == 0) return {asio::error::eof, 0};
      if (errno != EINTR) return {last_error(), 0};
    }
  }

  IoResult try_write(std::span<const std::string_view> parts) override {
    if (!socket_.is_open()) return {asio::error::operation_aborted, 0};
    std::size_t written = 0;
    while (!parts.empty()) {
      std::array<iovec, 32> vectors;
      const std::size_t count = std::min(parts.size(), vectors.size());
      std::size_t wanted = 0;
      for (std::size_t i = 0; i < count; ++i) {
        vectors[i] = {const_cast<char*>(parts[i].data()), parts[i].size()};
        wanted += parts[i].size();
      }
      parts = parts.subspan(count);
      if (wanted == 0) continue;
      msghdr message{};
      message.msg_iov = vectors.data();
      message.msg_iovlen = count;
      // More follows: let the kernel fill its segments.
      const int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (parts.empty() ? 0 : MSG_MORE);
      ssize_t sent = 0;
      do {
        sent = ::sendmsg(socket_.native_handle(), &message, flags);
      } while (sent < 0 && errno == EINTR);
      if (sent < 0) return {last_error(), written};
      written += static_cast<std::size_t>(sent);
      if (static_cast<std::size_t>(sent) < wanted) return {asio::error::would_block, written};
    }
    return {{}, written};
  }

  Task<Waited> wait_readable() override { return socket_.async_wait(TcpSocket::wait_read, kToken); }
  Task<Waited> wait_writable() override { return socket_.async_wait(TcpSocket::wait_write, kToken); }

  void on_readable(std::move_only_function<void(ErrorCode)> notify) override {
    socket_.async_wait(TcpSocket::wait_read, std::move(notify));
  }

  Task<Result<>> handshake() override { co_return Result<>{}; }

  void shutdown() override {
    ErrorCode ignored;
    socket_.shutdown(TcpSocket::shutdown_send, ignored);
  }

  void close() override {
    ErrorCode ignored;
    socket_.close(ignored);
  }

  int native_handle() const override {
    return socket_.is_open() ? const_cast<TcpSocket&>(socket_).native_handle() : -1;
  }
  bool is_tls() const override { return false; }
  const Peer& peer() const override { return peer_; }
  Executor executor() const override { return const_cast<TcpSocket&>(socket_).get_executor(); }

 private:
  TcpSocket socket_;
  Peer peer_;
};

}  // namespace

Stream tcp_stream(TcpSocket socket) { return Stream(std::make_unique<TcpTransport>(std::move(socket))); }

}  // namespace proteus::net
