#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace proteus::net {

// How an operation of Asio is awaited here: its error comes with its result and is not thrown.
inline constexpr auto kAwaited = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace proteus::net
