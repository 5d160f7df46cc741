#pragma once

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "net/stream.hpp"

namespace proteus::net {

// With its concrete executor: an any_io_executor costs on every operation.
using TcpSocket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

// Takes a connected socket. Sets TCP_NODELAY, because every write is a whole answer or event.
Stream tcp_stream(TcpSocket socket);

}  // namespace proteus::net
