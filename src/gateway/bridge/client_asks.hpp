#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/cancellation_signal.hpp>

#include "base/tasks/task.hpp"
#include "base/tasks/waiting.hpp"
#include "client/message/handlers.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {

// The questions of an upstream for the client of one call. They end with the call, even if the upstream has answered
// the call without waiting for them.
class ClientAsks : public std::enable_shared_from_this<ClientAsks> {
 public:
  // `thread` is the thread of the call.
  ClientAsks(server::Call& call, const Executor& thread) : call_(&call), thread_(thread), last_ended_(thread) {}

  // Asks the client and returns its result as JSON, or an error of kind `cancelled` once closed. Thread-safe.
  static Task<Result<std::string>> ask(std::shared_ptr<ClientAsks> self, client::Question question);

  // Withdraws all open questions and returns when they have ended; later ones are cancelled at once. Must be called on
  // the call's thread before the call ends.
  Task<> close();

 private:
  Task<Result<std::string>> ask_here(std::uint64_t number, client::Question question);
  void withdraw(std::uint64_t number);

  server::Call* call_;  // null once closed
  const Executor thread_;
  std::atomic<std::uint64_t> last_ = 0;
  std::map<std::uint64_t, boost::asio::cancellation_signal> open_;
  Bell last_ended_;
};

}  // namespace proteus::gateway
