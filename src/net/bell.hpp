#pragma once

#include <chrono>
#include <tuple>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/task.hpp"

namespace proteus::net {

using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                boost::asio::wait_traits<std::chrono::steady_clock>,
                                                boost::asio::io_context::executor_type>;

// Wakes coroutines of one thread that wait for something to change. Whoever is woken looks for itself what
// has: a cancelled coroutine wakes just the same.
class Bell {
 public:
  explicit Bell(boost::asio::io_context& io) : timer_(io, Timer::time_point::max()) {}

  void ring() { timer_.cancel(); }
  Task<std::tuple<boost::system::error_code>> wait() {
    return timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  }

 private:
  Timer timer_;
};

}  // namespace proteus::net
