#pragma once

#include <functional>

#include <boost/asio/ip/address.hpp>
#include <proteus/error.hpp>

#include "net/http/url.hpp"

namespace proteus::net {

// Fails for an address that no request may go to. `address` is what the host of `url` was resolved to; nothing has been
// sent to it yet.
using AddressFilter = std::function<Result<>(const Url& url, const boost::asio::ip::address& address)>;

}  // namespace proteus::net
