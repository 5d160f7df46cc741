#pragma once

#include <cstdint>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

// For tests.
namespace proteus::net::test {

// A loopback port that refuses connections and that no other program gets meanwhile. A server may listen there if it is
// given the number.
class ClosedPort {
 public:
  ClosedPort() : socket_(io_, boost::asio::ip::tcp::v4()) {
    socket_.set_option(boost::asio::socket_base::reuse_address(true));
    socket_.bind({boost::asio::ip::address_v4::loopback(), 0});
  }
  std::uint16_t number() const { return socket_.local_endpoint().port(); }

 private:
  boost::asio::io_context io_;
  boost::asio::ip::tcp::socket socket_;  // bound, but never listening
};

}  // namespace proteus::net::test
