#include "net/io/step_budget.hpp"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace proteus::net {

namespace asio = boost::asio;

Task<bool> let_others_run() {
  co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  co_return (co_await asio::this_coro::cancellation_state).cancelled() == asio::cancellation_type::none;
}

}  // namespace proteus::net
