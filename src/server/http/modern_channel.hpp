#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/task_group.hpp"
#include "net/http_server/http_server.hpp"
#include "server/core/call.hpp"
#include "server/core/outbox.hpp"

namespace proteus::server {

// The channel of a modern call over HTTP: the answer is a single JSON object, unless something is sent in front of it,
// which makes it a stream. What comes together with the answer, or at the same time, goes out with it in one piece.
class ModernChannel final : public CallChannel {
 public:
  ModernChannel(net::Exchange& exchange, std::chrono::milliseconds keep_alive)
      : exchange_(exchange), keep_alive_(keep_alive) {}
  ~ModernChannel() override { call_off(); }
  ModernChannel(const ModernChannel&) = delete;
  ModernChannel& operator=(const ModernChannel&) = delete;

  void send(std::string message) override;
  void send_with_answer(std::string message) override;
  void release(std::chrono::milliseconds) override {}
  // A client that closes its connection has cancelled.
  Cancellation& cancellation() override;

  bool streaming() const { return outbox_ != nullptr; }
  bool cancelled() const { return cancellation_ && cancellation_->requested(); }
  // Where the server gave the call up: the answer is then why.
  bool given_up() const { return cancelled() && !cancellation_->reason().empty(); }
  // What was sent, where that is no stream yet, and will not be one any more.
  std::string take_frames() {
    call_off();
    return std::exchange(frames_, {});
  }

  // Ends the stream.
  Task<> close();
  Task<> finish(std::string message);

 private:
  void call_off() {
    if (starting_) *starting_ = nullptr;
  }
  void start();

  net::Exchange& exchange_;
  const std::chrono::milliseconds keep_alive_;
  std::string frames_;                        // before the stream has begun
  std::shared_ptr<ModernChannel*> starting_;  // null inside once it must not
  std::shared_ptr<Outbox> outbox_;
  std::optional<TaskGroup> group_;
  std::shared_ptr<Cancellation> cancellation_;
};

}  // namespace proteus::server
