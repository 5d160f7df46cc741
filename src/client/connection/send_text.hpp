#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <boost/asio/this_coro.hpp>
#include <proteus/error.hpp>

#include "base/tasks/waiting.hpp"
#include "client/message/transport.hpp"

namespace proteus::client {

// Sends a message that has no answer. Fails if that takes longer than `time`.
inline Task<Result<>> send_text(std::shared_ptr<Transport> transport, std::string text,
                                std::chrono::milliseconds time) {
  Outgoing message;
  message.parts.emplace_back(text);
  Deadline deadline(co_await boost::asio::this_coro::executor, time, {});
  co_return co_await before(deadline, transport->send(message), "sending");
}

}  // namespace proteus::client
