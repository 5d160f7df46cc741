#pragma once

#include <optional>
#include <string_view>

#include <boost/asio/ip/address.hpp>

namespace proteus::net {

// Addresses that begin with the same bits: "10.0.0.0/8". An address alone is a network of one.
class Network {
 public:
  // Nothing where it is neither.
  static std::optional<Network> parse(std::string_view text);

  // IPv4 and IPv6 are apart, also where one holds the other.
  bool contains(const boost::asio::ip::address& address) const;

 private:
  Network(boost::asio::ip::address address, unsigned bits) : address_(std::move(address)), bits_(bits) {}

  boost::asio::ip::address address_;
  unsigned bits_;  // that count
};

}  // namespace proteus::net
