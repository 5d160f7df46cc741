#include "base/delivery.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace proteus {

namespace asio = boost::asio;

// Lives in the frame of the coroutine that waits. A context that is destroyed destroys the frames that wait on it
// before it is gone itself, so a bell never reaches for an executor that no longer exists.
class DeliveryBell::Waiting {
 public:
  Waiting(DeliveryBell& bell, asio::steady_timer& timer) : bell_(bell) {
    const std::lock_guard lock(bell_.mutex_);
    bell_.waiting_ = &timer;
  }
  ~Waiting() {
    const std::lock_guard lock(bell_.mutex_);
    bell_.waiting_ = nullptr;
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  DeliveryBell& bell_;
};

void DeliveryBell::ring() {
  const std::lock_guard lock(mutex_);
  rung_ = true;
  if (waiting_ != nullptr) asio::post(waiting_->get_executor(), [self = shared_from_this()] { self->wake(); });
}

void DeliveryBell::wake() {
  const std::lock_guard lock(mutex_);
  if (waiting_ != nullptr) waiting_->cancel();
}

bool DeliveryBell::has_rung() {
  const std::lock_guard lock(mutex_);
  return rung_;
}

Task<> DeliveryBell::wait(std::shared_ptr<DeliveryBell> bell) {
  asio::steady_timer timer(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
  const Waiting waiting(*bell, timer);
  while (!bell->has_rung()) {
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    if (bell->has_rung()) break;
    const asio::cancellation_state state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) {
      throw boost::system::system_error(asio::error::operation_aborted);
    }
  }
}

}  // namespace proteus
