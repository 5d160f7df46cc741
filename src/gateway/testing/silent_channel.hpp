#pragma once

#include <chrono>
#include <string>

#include "server/core/call.hpp"

namespace proteus::gateway {

// For tests: the channel of a call whose client is told nothing.
class SilentChannel final : public server::CallChannel {
 public:
  explicit SilentChannel(const Executor& executor) : cancellation_(executor) {}
  void send(std::string) override {}
  void release(std::chrono::milliseconds) override {}
  server::Cancellation& cancellation() override { return cancellation_; }

 private:
  server::Cancellation cancellation_;
};

}  // namespace proteus::gateway
