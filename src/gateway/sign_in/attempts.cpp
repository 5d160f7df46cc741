#include "gateway/sign_in/attempts.hpp"

#include <algorithm>

#include <boost/asio/ip/address.hpp>

namespace proteus::gateway {

std::string network_of(std::string_view address) {
  boost::system::error_code not_one;
  const auto parsed = boost::asio::ip::make_address(std::string(address), not_one);
  if (not_one || !parsed.is_v6() || parsed.to_v6().is_v4_mapped()) return std::string(address);
  auto bytes = parsed.to_v6().to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), 0);
  return boost::asio::ip::address_v6(bytes).to_string() + "/64";
}

}  // namespace proteus::gateway
