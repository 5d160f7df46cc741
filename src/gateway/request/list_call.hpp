#pragma once

#include <chrono>
#include <string>

#include "gateway/routing/caller_lists.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {

// A list request on behalf of another request: has the same caller and cancellation, and sends the client nothing.
class ListCall final : public server::CallChannel {
 public:
  ListCall(const Asker& asker, catalog::Kind kind, server::Cancellation& cancellation)
      : request_(asker.request), cancellation_(cancellation), call_(request_, asker.caller, *this) {
    const auto method = mcp::to_string(catalog::info(kind).list_method);
    request_.method = mcp::find_method(request_.era(), mcp::Sender::client, method);
    request_.name = request_.progress_token = {};
    request_.log_level.reset();
    if (asker.session != nullptr) call_.join(*asker.session, {});
    call_.set_authorization(asker.authorization);
  }

  server::Call& call() { return call_; }

  void send(std::string) override {}
  void release(std::chrono::milliseconds) override {}
  server::Cancellation& cancellation() override { return cancellation_; }

 private:
  mcp::Request request_;
  server::Cancellation& cancellation_;
  server::Call call_;
};

}  // namespace proteus::gateway
