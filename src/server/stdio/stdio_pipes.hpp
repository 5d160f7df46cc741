#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include <proteus/error.hpp>

#include "base/stranger_log.hpp"

namespace proteus::server {

// Standard input and output with plain blocking calls: they may be a pipe, a terminal or a file, and their
// flags belong to others as well. Writing happens on a thread of its own, so that a client that does not read
// holds up nothing but itself.
class StdioPipes {
 public:
  explicit StdioPipes(int in = 0, int out = 1);
  ~StdioPipes();
  StdioPipes(const StdioPipes&) = delete;
  StdioPipes& operator=(const StdioPipes&) = delete;

  enum class End : std::uint8_t { of_input, interrupted };
  // Reads until the end of the input, or until `interrupt`.
  Result<End> read(const std::function<void(std::string)>& sink);
  // Waits for `interrupt`, or until nobody reads the output any more.
  void wait();
  // From any thread. Lines are dropped where too many wait.
  void write(std::string line);
  // Waits until all lines are written, or cannot be.
  void flush();
  void interrupt();

 private:
  void write_lines();

  const int in_;
  const int out_;
  int wake_;
  StrangerLog dropped_{"the client"};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  std::size_t bytes_ = 0;
  bool writing_ = false;
  bool closed_ = false;
  std::thread writer_;
};

}  // namespace proteus::server
