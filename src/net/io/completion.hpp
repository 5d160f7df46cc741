#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace proteus::net {

// Completion token for Asio's operations: the error comes with the result and is not thrown.
inline constexpr auto kAwaited = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace proteus::net
