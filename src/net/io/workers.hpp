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

// The threads of the program that do I/O: one io_context each, never run by another. What is made on a
// worker's context stays there; others reach it by posting. `next` and `stop` may be called from any thread,
// the rest by the owner. Must outlive everything that uses its contexts.
class Workers {
 public:
  explicit Workers(std::size_t count);
  // Stops and joins.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  std::size_t size() const { return contexts_.size(); }
  boost::asio::io_context& at(std::size_t index) { return *contexts_[index]; }
  // The index of the one whose thread this is; throws where it is none of theirs.
  std::size_t here() const { return this_one_.of == this ? this_one_.index : throw_no_worker(); }
  // Round robin.
  boost::asio::io_context& next();

  // Starts the threads and returns. They keep running without work, until `stop`.
  void run();
  // Counts and logs handlers that use more CPU time than this; see StallWatch. While the threads run.
  void watch_stalls(std::chrono::nanoseconds threshold);
  // From any thread.
  std::uint64_t stalls() const;
  // Lets each thread end after the handler it is in; handlers still queued are not called.
  void stop();
  void join();

 private:
  // Of a thread.
  struct Place {
    const Workers* of = nullptr;
    std::size_t index = 0;
  };
  [[noreturn]] static std::size_t throw_no_worker();

  static thread_local constinit Place this_one_;
  std::vector<std::unique_ptr<boost::asio::io_context>> contexts_;
  std::vector<std::jthread> threads_;
  std::unique_ptr<StallWatch> stall_watch_;  // behind the threads it watches
  std::atomic<std::size_t> next_ = 0;
};

}  // namespace proteus::net
