#include "gateway/callers/own_lists.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/tasks/waiting.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

// Wakes a waiting coroutine.
struct OwnLists::Wake {
  Wake(const Executor& executor, std::uint64_t last) : thread(executor), bell(executor), last_announcement(last) {}
  const Executor thread;
  Bell bell;                              // belongs to the coroutine's thread
  bool rung = false;                      // like the bell
  const std::uint64_t last_announcement;  // the last one that the coroutine waits for
};

std::shared_ptr<void> OwnLists::fall_behind(std::shared_ptr<OwnLists> self) {
  std::uint64_t announcement = 0;
  {
    const std::scoped_lock lock(self->mutex_);
    announcement = ++self->last_announcement_;
    self->unread_.insert(announcement);
    self->unread_count_.store(self->unread_.size(), std::memory_order_release);
  }
  return {nullptr, [self, announcement](void*) { self->catch_up(announcement); }};
}

void OwnLists::catch_up(std::uint64_t announcement) {
  const std::scoped_lock lock(mutex_);
  unread_.erase(announcement);
  unread_count_.store(unread_.size(), std::memory_order_release);
  const std::uint64_t oldest = unread_.empty() ? last_announcement_ + 1 : *unread_.begin();
  for (const auto& wake : waiting_) {
    if (wake->last_announcement >= oldest) continue;
    asio::post(wake->thread, [wake] {
      wake->rung = true;
      wake->bell.ring();
    });
  }
}

Task<> OwnLists::caught_up(std::shared_ptr<OwnLists> self, std::chrono::milliseconds most) {
  const Executor executor = co_await asio::this_coro::executor;
  std::shared_ptr<Wake> wake;
  {
    const std::scoped_lock lock(self->mutex_);
    if (self->unread_.empty()) co_return;
    wake = std::make_shared<Wake>(executor, self->last_announcement_);
    self->waiting_.insert(wake);
  }
  const std::shared_ptr<void> leaving(nullptr, [&](void*) {
    const std::scoped_lock lock(self->mutex_);
    self->waiting_.erase(wake);
  });
  const auto wait = [](std::shared_ptr<Wake> mine) -> Task<Result<>> {
    while (!mine->rung)
      co_await mine->bell.wait();
    co_return Result<>{};
  };
  Deadline deadline(executor, most, {});
  (void)co_await before(deadline, wait(wake), "a caller's own lists");
}

}  // namespace proteus::gateway
