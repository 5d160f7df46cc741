#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>

namespace proteus::net {

class StallWatch;

// The program's I/O threads. Each has its own io_context, which no other thread runs. Objects made on a worker's
// context stay there; other threads reach them by posting. `next`, `here`, `stalls` and `stop` may be called from any
// thread, the rest only by the owner. Must outlive everything that uses its contexts.
class Workers {
 public:
  explicit Workers(std::size_t count);
  // Stops and joins the threads, and destroys handlers that were not called.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  std::size_t size() const { return contexts_.size(); }
  boost::asio::io_context& at(std::size_t index) { return *contexts_[index]; }
  // Returns the index of the worker whose thread this is. Throws on any other thread.
  std::size_t here() const { return this_one_.of == this ? this_one_.index : throw_no_worker(); }
  // Returns the contexts in turn.
  boost::asio::io_context& next();

  // Starts the threads and returns. They run until `stop`, even without work.
  void run();
  // Counts and logs handlers that use more CPU time than `threshold`; see StallWatch. Only while the threads run.
  void watch_stalls(std::chrono::nanoseconds threshold);
  std::uint64_t stalls() const;
  // Lets each thread end after its current handler; handlers still queued are not called.
  void stop();
  void join();

 private:
  class Context : public boost::asio::io_context {
   public:
    using io_context::io_context;
    void drop_handlers() { shutdown(); }
  };

  // The worker that a thread is, if any.
  struct Place {
    const Workers* of = nullptr;
    std::size_t index = 0;
  };
  [[noreturn]] static std::size_t throw_no_worker();

  static thread_local constinit Place this_one_;
  std::vector<std::unique_ptr<Context>> contexts_;
  std::vector<std::jthread> threads_;
  std::unique_ptr<StallWatch> stall_watch_;  // destroyed before the threads it watches
  std::atomic<std::size_t> next_ = 0;
};

}  // namespace proteus::net
