#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "net/io/readiness.hpp"

namespace proteus::net {

// Detects threads that stay in one handler for too long, by the thread's own CPU time, so that a busy machine does not
// look like a stall. Each stall is counted once and logged, with the call stack at that moment.
//
// A worker pays for one increment per served socket; the rest happens on a thread of the watch. The stack is taken in a
// handler of SIGPROF, which the watch installs: a program that uses SIGPROF itself cannot have a watch.
class StallWatch {
 public:
  struct Worker {
    boost::asio::io_context& io;
    pthread_t thread;
  };

  // The threads must outlive the watch.
  StallWatch(const std::vector<Worker>& workers, std::chrono::nanoseconds threshold);

  // Thread-safe.
  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  struct Watched {
    boost::asio::io_context& io;
    Readiness& readiness;
    pthread_t thread;
    clockid_t clock;
    std::uint64_t beats = 0;         // at the last check
    std::chrono::nanoseconds since;  // CPU time when `beats` last changed
    bool asked = false;              // a beat was requested since then
    bool reported = false;
  };

  void run(const std::stop_token& stop);
  void look_at(Watched& watched);
  void report(const Watched& watched, std::chrono::nanoseconds spent);

  const std::chrono::nanoseconds threshold_;
  std::vector<Watched> watched_;
  std::atomic<std::uint64_t> count_ = 0;
  std::jthread thread_;  // last: uses the other members
};

}  // namespace proteus::net
