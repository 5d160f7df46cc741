#include "client/api/callback_thread.hpp"

#include <exception>
#include <optional>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/tasks/waiting.hpp"

namespace proteus::client {

CallbackThread::~CallbackThread() { stop(); }

CallbackThread::Number CallbackThread::post(std::function<void()> function, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return WaitingFunctions::kNone;
  const Number number = waiting_.push(std::move(function), bytes);
  if (number == WaitingFunctions::kNone) return number;
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  wake_.notify_one();
  return number;
}

void CallbackThread::withdraw(Number number) {
  const std::lock_guard lock(mutex_);
  waiting_.withdraw(number);
}

void CallbackThread::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
    if (stopped_) return;
    if (const auto dropped = waiting_.take_dropped(); dropped > 0)
      log_.warning("{} messages and questions were dropped: the handlers are too slow", dropped);
    auto function = waiting_.pop();
    lock.unlock();
    try {
      const CallbackScope inside;
      function();
    } catch (const std::exception& thrown) {
      log_.at(log::Level::error, "a callback threw {}", thrown.what());
    } catch (...) {
      log_.at(log::Level::error, "a callback threw what is no std::exception");
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
    thread = std::move(thread_);
  }
  wake_.notify_all();
  if (thread.joinable()) thread.join();
}

namespace {

// Shared by the callback and the coroutine. The bell belongs to the coroutine, and only the coroutine's thread uses it.
struct Exchange {
  Bell* bell = nullptr;
  std::optional<Result<std::string>> result;
};

Result<std::string> call(const std::function<Result<std::string>()>& function) {
  try {
    return function();
  } catch (const std::exception& thrown) {
    return std::unexpected(errors::internal(std::string("a handler failed: ") + thrown.what()));
  } catch (...) {
    return std::unexpected(errors::internal("a handler failed: it threw what is no std::exception"));
  }
}

}  // namespace

Task<Result<std::string>> await_callback(std::shared_ptr<CallbackThread> thread,
                                         std::weak_ptr<boost::asio::io_context> io,
                                         std::function<Result<std::string>()> function, std::size_t bytes) {
  Bell bell(co_await boost::asio::this_coro::executor);
  auto exchange = std::make_shared<Exchange>();
  exchange->bell = &bell;
  const auto run = [exchange, io = std::move(io), function = std::move(function)] {
    auto result = call(function);
    if (const auto alive = io.lock()) {
      boost::asio::post(*alive, [exchange, result = std::move(result)]() mutable {
        exchange->result = std::move(result);
        if (exchange->bell != nullptr) exchange->bell->ring();
      });
    }
  };
  struct Posted {
    CallbackThread& thread;
    Exchange& exchange;
    CallbackThread::Number number;
    ~Posted() {
      exchange.bell = nullptr;
      thread.withdraw(number);
    }
  } const posted{*thread, *exchange, thread->post(run, bytes)};
  if (posted.number == WaitingFunctions::kNone)
    co_return std::unexpected(errors::exhausted("too much waits for the handlers"));
  while (!exchange->result)
    co_await bell.wait();
  co_return std::move(*exchange->result);
}

}  // namespace proteus::client
