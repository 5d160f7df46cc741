#pragma once

#include <cstdint>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

// For tests.
namespace proteus::net::test {

// A port of the loopback where connections are refused, and which nobody else gets meanwhile. A server that is told its
// number may listen there.
class ClosedPort {
 public:
  ClosedPort() : socket_(io_, boost::asio::ip::tcp::v4()) {
    socket_.set_option(boost::asio::socket_base::reuse_address(true));
    socket_.bind({boost::asio::ip::address_v4::loopback(), 0});
  }
  std::uint16_t number() const { return socket_.local_endpoint().port(); }

 private:
  boost::asio::io_context io_;
  boost::asio::ip::tcp::socket socket_;  // bound, and never listening
};

}  // namespace proteus::net::test
