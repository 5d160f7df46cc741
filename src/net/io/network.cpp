#include "net/io/network.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

namespace proteus::net {
namespace {

namespace ip = boost::asio::ip;

std::vector<unsigned char> bytes_of(const ip::address& address) {
  if (address.is_v4()) {
    const auto bytes = address.to_v4().to_bytes();
    return {bytes.begin(), bytes.end()};
  }
  const auto bytes = address.to_v6().to_bytes();
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::optional<Network> Network::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  boost::system::error_code error;
  const auto address = ip::make_address(std::string(text.substr(0, slash)), error);
  if (error) return std::nullopt;
  unsigned bits = address.is_v4() ? 32 : 128;
  if (slash != std::string_view::npos) {
    const std::string_view digits = text.substr(slash + 1);
    unsigned given = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), given);
    if (fault != std::errc{} || end != digits.data() + digits.size() || given > bits) return std::nullopt;
    bits = given;
  }
  return Network(address, bits);
}

bool Network::contains(const ip::address& address) const {
  if (address.is_v4() != address_.is_v4()) return false;
  const auto a = bytes_of(address);
  const auto b = bytes_of(address_);
  unsigned left = bits_;
  for (std::size_t i = 0; i < a.size() && left > 0; ++i) {
    const unsigned count = std::min(left, 8U);
    const unsigned mask = 0xFFU << (8 - count) & 0xFFU;
    if ((a[i] & mask) != (b[i] & mask)) return false;
    left -= count;
  }
  return true;
}

}  // namespace proteus::net
