#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace proteus {

// The coroutine type of the whole program. A coroutine takes its parameters by value, or by reference to objects that
// outlive it.
template <class T = void>
using Task = boost::asio::awaitable<T>;

using Executor = boost::asio::any_io_executor;

}  // namespace proteus
