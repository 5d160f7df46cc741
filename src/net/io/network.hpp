#pragma once

#include <optional>
#include <string_view>

#include <boost/asio/ip/address.hpp>

namespace proteus::net {

// A range of IP addresses that begin with the same bits: "10.0.0.0/8". A single address is a network of one.
class Network {
 public:
  // Returns nothing if the text is neither a network nor an address.
  static std::optional<Network> parse(std::string_view text);

  // IPv4 and IPv6 never match each other, not even if an IPv6 address contains an IPv4 one.
  bool contains(const boost::asio::ip::address& address) const;

 private:
  Network(boost::asio::ip::address address, unsigned bits) : address_(std::move(address)), bits_(bits) {}

  boost::asio::ip::address address_;
  unsigned bits_;  // number of bits that must be equal
};

}  // namespace proteus::net
