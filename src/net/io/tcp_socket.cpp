#include "net/io/tcp_socket.hpp"

#include <cerrno>

#include <sys/socket.h>

#include "base/unique_fd.hpp"

namespace proteus::net {
namespace {

namespace asio = boost::asio;

ErrorCode last_error() { return {errno, boost::system::system_category()}; }

template <class Socket>
ErrorCode open(Socket& socket, const asio::ip::tcp& protocol) {
  UniqueFd fd(::socket(protocol.family(), SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!fd) return last_error();
  ErrorCode error;
  socket.assign(protocol, fd.get(), error);
  if (!error) fd.release();
  return error;
}

}  // namespace

ErrorCode open_socket(TcpSocket& socket, const asio::ip::tcp& protocol) { return open(socket, protocol); }
ErrorCode open_socket(TcpAcceptor& acceptor, const asio::ip::tcp& protocol) {
  if (const auto error = open(acceptor, protocol)) return error;
  ErrorCode error;
  // The connection that made the acceptor readable may be gone when it is accepted; the call must not block then.
  acceptor.native_non_blocking(true, error);
  return error;
}

ErrorCode accept_socket(TcpAcceptor& acceptor, TcpSocket& into) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  UniqueFd fd(::accept4(acceptor.native_handle(), reinterpret_cast<sockaddr*>(&peer), &size, SOCK_CLOEXEC));
  if (!fd) {
    const bool gone = errno == EAGAIN || errno == EINTR || errno == ECONNABORTED || errno == EPROTO;
    return gone ? ErrorCode(asio::error::would_block) : last_error();
  }
  ErrorCode error;
  into.assign(peer.ss_family == AF_INET6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), fd.get(), error);
  if (!error) fd.release();
  return error;
}

}  // namespace proteus::net
