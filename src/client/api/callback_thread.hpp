#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <proteus/error.hpp>

#include "base/log/stranger_log.hpp"
#include "base/tasks/task.hpp"
#include "client/api/waiting_functions.hpp"

namespace proteus::client {

// Marks the calling thread, while it lives, as one that runs a function of the application for a client.
class CallbackScope {
 public:
  CallbackScope() : outer_(std::exchange(inside_, true)) {}
  ~CallbackScope() { inside_ = outer_; }
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

  static bool is_inside() { return inside_; }

 private:
  static inline thread_local bool inside_ = false;
  const bool outer_;
};

// Runs functions of the application one at a time, away from input and output, so that they may block and may call the
// server. Thread-safe. The thread starts with the first function.
class CallbackThread {
 public:
  using Number = WaitingFunctions::Number;

  // `name` is the name of the server in the log.
  explicit CallbackThread(std::string name) : log_(std::move(name)) {}
  // Stops. Must not run on the thread itself.
  ~CallbackThread();
  CallbackThread(const CallbackThread&) = delete;
  CallbackThread& operator=(const CallbackThread&) = delete;

  // Queues a function and returns its number. Drops it and returns kNone after `stop`, or if too many wait; see
  // WaitingFunctions. An exception that it throws is logged.
  Number post(std::function<void()> function, std::size_t bytes);
  // Drops a function that has not begun.
  void withdraw(Number number);

  // Drops the functions that wait, and waits for the running one. Must not run on the thread itself.
  void stop();

 private:
  void run();

  StrangerLog log_;
  std::mutex mutex_;
  std::condition_variable wake_;
  WaitingFunctions waiting_;
  bool stopped_ = false;
  std::thread thread_;
};

// Runs `function` on `thread` and returns its result; an exception becomes an error. If the awaiting coroutine is
// cancelled, a function that has not begun is dropped; one that runs ends, and its result is dropped. `bytes` is about
// the memory that the function holds. `io` is the context of the coroutine.
Task<Result<std::string>> await_callback(std::shared_ptr<CallbackThread> thread,
                                         std::weak_ptr<boost::asio::io_context> io,
                                         std::function<Result<std::string>()> function, std::size_t bytes);

}  // namespace proteus::client
