#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "net/io/stream.hpp"

// Sockets that are close-on-exec from their creation, so that no child process that starts meanwhile inherits one.
// Asio's own `open` and `accept` do not set that flag.
namespace proteus::net {

// With the concrete executor type, because an any_io_executor has a cost on every operation.
using TcpSocket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;
using TcpAcceptor = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

ErrorCode open_socket(TcpSocket& socket, const boost::asio::ip::tcp& protocol);
ErrorCode open_socket(TcpAcceptor& acceptor, const boost::asio::ip::tcp& protocol);

// Accepts the next connection, once the acceptor is readable. Returns `would_block` if that connection is gone again.
ErrorCode accept_socket(TcpAcceptor& acceptor, TcpSocket& into);

}  // namespace proteus::net
