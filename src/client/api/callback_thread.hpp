#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <proteus/error.hpp>

#include "base/task.hpp"

namespace proteus::client {

// Runs the functions of an application one at a time, apart from input and output, so that they may block and
// may make calls of their own. Safe to use from any thread. The thread starts with the first function.
class CallbackThread {
 public:
  CallbackThread() = default;
  // Stops.
  ~CallbackThread();
  CallbackThread(const CallbackThread&) = delete;
  CallbackThread& operator=(const CallbackThread&) = delete;

  // What an exception would leave is logged, and goes no further.
  void post(std::function<void()> function);

  // Waits for the function that runs, unless that is who calls; those that wait are dropped.
  void stop();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> waiting_;
  bool stopped_ = false;
  std::thread thread_;
};

// Awaits what a function returns on that thread. If the awaiting coroutine is cancelled, what it returns is
// dropped. The context is that of the coroutine.
Task<Result<std::string>> await_callback(std::shared_ptr<CallbackThread> thread,
                                         std::weak_ptr<boost::asio::io_context> io,
                                         std::function<Result<std::string>()> function);

}  // namespace proteus::client
