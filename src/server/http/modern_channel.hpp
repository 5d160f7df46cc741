#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/tasks/task_group.hpp"
#include "net/http_server/http_server.hpp"
#include "server/core/call.hpp"
#include "server/core/outbox.hpp"

namespace proteus::server {

// The channel of a modern call over HTTP. The answer is a JSON object, or an event stream if messages are sent before
// it. Messages that are sent in the same turn of the thread as the answer are written together with it.
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
  // Fires when the client closes its connection.
  Cancellation& cancellation() override;

  bool streaming() const { return outbox_ != nullptr; }
  bool cancelled() const { return cancellation_ && cancellation_->requested(); }
  // Whether the server cancelled the call; the answer then says why.
  bool given_up() const { return cancelled() && !cancellation_->reason().empty(); }
  // Returns the messages that were sent before a stream has begun, and prevents one from beginning.
  std::string take_frames() {
    call_off();
    return std::exchange(frames_, {});
  }

  // End the stream. If `streaming`, one of them must be awaited before the channel is destroyed.
  Task<> close();
  Task<> finish(std::string message);

 private:
  void call_off() {
    if (starting_) *starting_ = nullptr;
  }
  void start();

  net::Exchange& exchange_;
  const std::chrono::milliseconds keep_alive_;
  std::string frames_;                        // messages before the stream has begun
  std::shared_ptr<ModernChannel*> starting_;  // set once a start is posted; points to null if it was called off
  std::shared_ptr<Outbox> outbox_;
  std::optional<TaskGroup> group_;
  std::shared_ptr<Cancellation> cancellation_;
};

}  // namespace proteus::server
