#pragma once

#include <functional>
#include <string_view>

#include <boost/asio/ip/address.hpp>
#include <proteus/error.hpp>

namespace proteus::net {

// Says no to an address a host name was resolved to, before anything is sent there.
using AddressFilter = std::function<Result<>(std::string_view host, const boost::asio::ip::address& address)>;

}  // namespace proteus::net
