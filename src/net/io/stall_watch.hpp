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

// Looks for threads that stay in one handler for too long, by the CPU time of the thread itself, so that a busy machine
// is not mistaken for one. Each stall is counted once and logged, with the call stack it was found in.
//
// A worker pays for one increment per socket that became ready; the rest happens on a thread of the watch. The stack is
// taken in a handler of SIGPROF, which the watch installs: a program that uses SIGPROF itself cannot have a watch.
class StallWatch {
 public:
  struct Worker {
    boost::asio::io_context& io;
    pthread_t thread;
  };

  // The threads must live for as long as the watch.
  StallWatch(const std::vector<Worker>& workers, std::chrono::nanoseconds threshold);

  // From any thread.
  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  struct Watched {
    boost::asio::io_context& io;
    Readiness& readiness;
    pthread_t thread;
    clockid_t clock;
    std::uint64_t beats = 0;         // when last looked at
    std::chrono::nanoseconds since;  // the CPU time when a beat was last seen
    bool asked = false;              // for a beat, since then
    bool reported = false;
  };

  void run(const std::stop_token& stop);
  void look_at(Watched& watched);
  void report(const Watched& watched, std::chrono::nanoseconds spent);

  const std::chrono::nanoseconds threshold_;
  std::vector<Watched> watched_;
  std::atomic<std::uint64_t> count_ = 0;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace proteus::net
