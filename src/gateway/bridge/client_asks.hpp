#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/cancellation_signal.hpp>

#include "base/task.hpp"
#include "base/waiting.hpp"
#include "client/message/handlers.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {

// What an upstream asks the client of one call. It ends with the call, also where the upstream has answered and never
// waited for what it asked.
class ClientAsks : public std::enable_shared_from_this<ClientAsks> {
 public:
  // `thread` is that of the call.
  ClientAsks(server::Call& call, const Executor& thread) : call_(&call), thread_(thread), last_ended_(thread) {}

  // On any thread, at any time.
  static Task<Result<std::string>> ask(std::shared_ptr<ClientAsks> self, client::Question question);

  // On the thread of the call, before it ends. Nothing is asked any more; ends when nothing is open.
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
