#include "net/io/workers.hpp"

#include <stdexcept>

#include <boost/asio/executor_work_guard.hpp>
#include <fmt/format.h>
#include <pthread.h>

#include "base/log/log.hpp"
#include "net/io/stall_watch.hpp"

namespace proteus::net {
namespace {

void run_worker(boost::asio::io_context& context, std::size_t index) {
  pthread_setname_np(pthread_self(), fmt::format("worker-{}", index).c_str());
  const auto keep_running = boost::asio::make_work_guard(context);
  while (!context.stopped()) {
    try {
      context.run();
    } catch (const std::exception& error) {
      log::error("a handler of worker {} threw: {}", index, error.what());
    } catch (...) {
      log::error("a handler of worker {} threw an unknown exception", index);
    }
  }
}

}  // namespace

thread_local constinit Workers::Place Workers::this_one_;

Workers::Workers(std::size_t count) {
  contexts_.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    contexts_.push_back(std::make_unique<Context>(1));
}

Workers::~Workers() {
  stop();
  join();
  // A handler of one context may own a timer of another, so all handlers go before the first context does.
  for (auto& context : contexts_)
    context->drop_handlers();
}

boost::asio::io_context& Workers::next() {
  return *contexts_[next_.fetch_add(1, std::memory_order_relaxed) % contexts_.size()];
}

std::size_t Workers::throw_no_worker() { throw std::logic_error("this thread is none of the workers"); }

void Workers::run() {
  threads_.reserve(contexts_.size());
  for (std::size_t i = 0; i < contexts_.size(); ++i) {
    threads_.emplace_back([this, context = contexts_[i].get(), i] {
      this_one_ = {this, i};
      run_worker(*context, i);
    });
  }
}

void Workers::watch_stalls(std::chrono::nanoseconds threshold) {
  std::vector<StallWatch::Worker> watched;
  watched.reserve(threads_.size());
  for (std::size_t i = 0; i < threads_.size(); ++i)
    watched.push_back({*contexts_[i], threads_[i].native_handle()});
  stall_watch_ = std::make_unique<StallWatch>(watched, threshold);
}

std::uint64_t Workers::stalls() const { return stall_watch_ ? stall_watch_->count() : 0; }

void Workers::stop() {
  for (auto& context : contexts_)
    context->stop();
}

void Workers::join() {
  stall_watch_.reset();
  threads_.clear();
}

}  // namespace proteus::net
