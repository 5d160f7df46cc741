#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "base/task.hpp"

namespace proteus::server {

// Messages on their way to one client. Anyone may push, from any thread; one coroutine, on the executor's
// thread, takes them out and writes them. Bounded: a client that does not read is given up, not waited for.
class Outbox : public std::enable_shared_from_this<Outbox> {
 public:
  struct Limits {
    std::size_t messages = 10'000;
    std::size_t bytes = std::size_t{16} << 20U;
  };

  explicit Outbox(const Executor& executor);
  Outbox(const Executor& executor, Limits limits);

  // False if the outbox is closed, or has just been closed because it is full.
  bool push(std::string message);
  // The same, unless an equal message that was pushed so still waits: a list that changed twice unseen has changed
  // once. Takes time proportional to the message, and to the logarithm of how many wait.
  bool push_once(std::string message);
  // Nothing can be pushed any more; what waits is still delivered.
  void close();
  bool closed();

  enum class Event : std::uint8_t { messages, idle, closed };
  // Waits for messages, at most as long as `idle`. `closed` means that there will be none any more.
  Task<Event> wait(std::chrono::milliseconds idle);
  std::vector<std::string> take();

 private:
  bool push_locked(std::string message);
  void wake();

  Executor executor_;
  Limits limits_;
  boost::asio::steady_timer timer_;  // touched on the executor's thread only

  std::mutex mutex_;
  std::deque<std::string> waiting_;
  std::set<std::string_view> once_;  // those of them that `push_once` has pushed
  std::size_t waiting_bytes_ = 0;
  bool closed_ = false;
  bool sleeping_ = false;
};

}  // namespace proteus::server
