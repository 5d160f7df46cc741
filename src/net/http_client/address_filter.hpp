#pragma once

#include <functional>

#include <boost/asio/ip/address.hpp>
#include <proteus/error.hpp>

#include "net/http/url.hpp"

namespace proteus::net {

// Says no to an address that the host of a URL was resolved to, before anything is sent there.
using AddressFilter = std::function<Result<>(const Url& url, const boost::asio::ip::address& address)>;

}  // namespace proteus::net
