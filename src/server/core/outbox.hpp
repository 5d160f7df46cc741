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

#include "base/tasks/task.hpp"

namespace proteus::server {

// A queue of messages to one client. Any thread pushes; one coroutine, on the executor's thread, takes messages out and
// writes them. Bounded: if the client does not read, the outbox closes instead of blocking.
class Outbox : public std::enable_shared_from_this<Outbox> {
 public:
  explicit Outbox(const Executor& executor);

  // Returns false if the outbox is closed, or has just closed because too much waits already. The size of the message
  // itself does not matter.
  bool push(std::string message);
  // Like `push`, but drops the message if an equal one from `push_once` still waits: a list that changed twice before
  // the client read has changed once. Takes time proportional to the size of the message and to the logarithm of the
  // number of waiting messages.
  bool push_once(std::string message);
  // Rejects further messages; those that wait are still delivered.
  void close();
  bool closed();

  enum class Event : std::uint8_t { messages, idle, closed };
  // Waits for messages, at most for `idle`. Returns `closed` if there are none and there will be none.
  Task<Event> wait(std::chrono::milliseconds idle);
  std::vector<std::string> take();

 private:
  bool push_locked(std::string message);
  void wake();

  Executor executor_;
  boost::asio::steady_timer timer_;  // used only on the executor's thread

  std::mutex mutex_;
  std::deque<std::string> waiting_;
  std::set<std::string_view> once_;  // views of the waiting messages from `push_once`
  std::size_t waiting_bytes_ = 0;
  bool closed_ = false;
  bool sleeping_ = false;
};

}  // namespace proteus::server
