#include "client/api/callback_thread.hpp"

#include <exception>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/log.hpp"
#include "base/waiting.hpp"

namespace proteus::client {

CallbackThread::~CallbackThread() { stop(); }

void CallbackThread::post(std::function<void()> function) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  waiting_.push_back(std::move(function));
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  wake_.notify_one();
}

void CallbackThread::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
    if (stopped_) return;
    auto function = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    try {
      function();
    } catch (const std::exception& thrown) {
      log::error("a callback threw {}", thrown.what());
    }
    function = nullptr;
    lock.lock();
  }
}

void CallbackThread::stop() {
  std::thread thread;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    waiting_.clear();
    if (thread_.get_id() == std::this_thread::get_id()) return;
    thread = std::move(thread_);
  }
  wake_.notify_all();
  if (thread.joinable()) thread.join();
}

namespace {

// What the callback and the coroutine share. The bell is the coroutine's, and looked at on its thread only.
struct Exchange {
  Bell* bell = nullptr;
  std::optional<Result<std::string>> result;
};

Result<std::string> call(const std::function<Result<std::string>()>& function) {
  try {
    return function();
  } catch (const std::exception& thrown) {
    return std::unexpected(errors::internal(std::string("a handler failed: ") + thrown.what()));
  }
}

}  // namespace

Task<Result<std::string>> await_callback(std::shared_ptr<CallbackThread> thread,
                                         std::weak_ptr<boost::asio::io_context> io,
                                         std::function<Result<std::string>()> function) {
  Bell bell(co_await boost::asio::this_coro::executor);
  auto exchange = std::make_shared<Exchange>();
  struct Ring {
    Exchange& exchange;
    ~Ring() { exchange.bell = nullptr; }
  } const ring{*exchange};
  exchange->bell = &bell;
  thread->post([exchange, io = std::move(io), function = std::move(function)] {
    auto result = call(function);
    if (const auto alive = io.lock()) {
      boost::asio::post(*alive, [exchange, result = std::move(result)]() mutable {
        exchange->result = std::move(result);
        if (exchange->bell != nullptr) exchange->bell->ring();
      });
    }
  });
  while (!exchange->result)
    co_await bell.wait();
  co_return std::move(*exchange->result);
}

}  // namespace proteus::client
