#include "base/tasks/delivery.hpp"

#include <utility>
#include <vector>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace proteus {

namespace asio = boost::asio;

// Registers a coroutine with the bell that it waits for. Lives in the coroutine's frame, and so no longer than its
// execution context.
class DeliveryBell::Waiting {
 public:
  // All Waitings of one execution context. A context shuts its services down before it destroys its queue; after that,
  // no bell uses a timer of the context.
  class Room : public asio::execution_context::service {
   public:
    static asio::execution_context::id id;
    explicit Room(asio::execution_context& context) : service(context) {}

    void enter(Waiting& waiting) { all_.push_back(&waiting); }
    void leave(Waiting& waiting) { std::erase(all_, &waiting); }

   private:
    void shutdown() noexcept override {
      for (Waiting* waiting : std::exchange(all_, {}))
        waiting->end();
    }

    std::vector<Waiting*> all_;  // used only on the context's thread
  };

  Waiting(DeliveryBell& bell, asio::steady_timer& timer)
      : bell_(bell), room_(asio::use_service<Room>(asio::query(timer.get_executor(), asio::execution::context))) {
    room_.enter(*this);
    const std::lock_guard lock(bell_.mutex_);
    bell_.waiting_ = &timer;
  }
  ~Waiting() {
    end();
    room_.leave(*this);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  void end() {
    const std::lock_guard lock(bell_.mutex_);
    bell_.waiting_ = nullptr;
  }

  DeliveryBell& bell_;
  Room& room_;
};

asio::execution_context::id DeliveryBell::Waiting::Room::id;

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

Task<bool> DeliveryBell::wait(std::shared_ptr<DeliveryBell> bell, Time until) {
  asio::steady_timer timer(co_await asio::this_coro::executor, until);
  const Waiting waiting(*bell, timer);
  while (!bell->has_rung()) {
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    if (bell->has_rung()) break;
    const asio::cancellation_state state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) {
      throw boost::system::system_error(asio::error::operation_aborted);
    }
    if (std::chrono::steady_clock::now() >= until) co_return false;
  }
  co_return true;
}

}  // namespace proteus
