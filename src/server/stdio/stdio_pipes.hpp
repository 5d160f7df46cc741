#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <proteus/error.hpp>

#include "base/log/stranger_log.hpp"

namespace proteus::server {

// Standard input and output, whatever they are: a pipe, a socket, a terminal or a file. Other processes share their
// flags, so they may block or not. A separate thread writes, so that a client that does not read blocks only itself.
class StdioPipes {
 public:
  explicit StdioPipes(int in = 0, int out = 1);
  ~StdioPipes();
  StdioPipes(const StdioPipes&) = delete;
  StdioPipes& operator=(const StdioPipes&) = delete;

  enum class End : std::uint8_t { of_input, interrupted };
  // Reads until the end of the input or until `interrupt`. Calls `sink` on the calling thread.
  Result<End> read(const std::function<void(std::string)>& sink);
  // Blocks until `interrupt` is called or the reader of the output is gone.
  void wait();
  // Thread-safe. Drops the line and returns false if too much waits already. The length of the line itself does not
  // matter. There is more room for short lines, so that an error can replace an answer that was dropped.
  bool write(std::string line);
  // Blocks until all lines are written or writing has failed. If the client reads nothing for `patience`, drops what is
  // left.
  void flush(std::chrono::milliseconds patience);
  void interrupt();

 private:
  void write_lines();
  // Blocks until some bytes are written. Returns how many; nothing if writing failed or was given up.
  std::optional<std::size_t> write_some(std::string_view bytes) const;
  void close();

  const int in_;
  const int out_;
  int wake_;
  int give_up_;  // readable once nothing is to be written any more
  StrangerLog dropped_{"the client"};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  std::size_t bytes_ = 0;
  std::uint64_t written_ = 0;  // number of writes that have succeeded
  bool writing_ = false;
  bool closed_ = false;
  std::thread writer_;
};

}  // namespace proteus::server
