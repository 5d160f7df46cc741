#pragma once

#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "net/io/tcp_stream.hpp"

namespace proteus::net::test {

// Returns the two ends of a TCP connection.
inline std::pair<Stream, Stream> loopback_streams(boost::asio::io_context& io) {
  boost::asio::ip::tcp::acceptor acceptor(io, {boost::asio::ip::make_address("127.0.0.1"), 0});
  TcpSocket near(io.get_executor());
  near.connect(acceptor.local_endpoint());
  TcpSocket far(io.get_executor());
  acceptor.accept(far);
  return {tcp_stream(std::move(near)), tcp_stream(std::move(far))};
}

}  // namespace proteus::net::test
