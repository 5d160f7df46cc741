#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "server/core/call.hpp"

namespace proteus::server {

// The channel of a call on a transport that has a single stream for everything. Drops what a cancelled call sends.
class LineChannel final : public CallChannel {
 public:
  LineChannel(std::function<void(std::string)> write, std::shared_ptr<Cancellation> cancellation)
      : write_(std::move(write)), cancellation_(std::move(cancellation)) {}

  void send(std::string message) override {
    if (!cancellation_->requested()) write_(std::move(message));
  }
  void release(std::chrono::milliseconds) override {}
  Cancellation& cancellation() override { return *cancellation_; }

 private:
  std::function<void(std::string)> write_;
  std::shared_ptr<Cancellation> cancellation_;
};

}  // namespace proteus::server
