#include "gateway/callers/own_lists.hpp"

#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/waiting.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

// Rung by a thread that is not its own.
struct Wake {
  explicit Wake(const Executor& executor) : bell(executor) {}
  Bell bell;
  bool rung = false;
};

Task<Result<>> wait_for(std::shared_ptr<Wake> wake) {
  while (!wake->rung)
    co_await wake->bell.wait();
  co_return Result<>{};
}

}  // namespace

void OwnLists::catch_up() {
  std::vector<std::function<void()>> waiting;
  {
    const std::scoped_lock lock(mutex_);
    if (behind_.fetch_sub(1, std::memory_order_acq_rel) == 1) waiting = std::exchange(waiting_, {});
  }
  for (const auto& wake : waiting)
    wake();
}

Task<> OwnLists::caught_up(std::shared_ptr<OwnLists> self, std::chrono::milliseconds most) {
  const Executor executor = co_await asio::this_coro::executor;
  const auto wake = std::make_shared<Wake>(executor);
  {
    const std::scoped_lock lock(self->mutex_);
    if (!self->is_behind()) co_return;
    self->waiting_.emplace_back([wake, executor] {
      asio::post(executor, [wake] {
        wake->rung = true;
        wake->bell.ring();
      });
    });
  }
  Deadline deadline(executor, most, {});
  (void)co_await before(deadline, wait_for(wake), "a caller's own lists");
}

}  // namespace proteus::gateway
