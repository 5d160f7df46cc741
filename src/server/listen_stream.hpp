#pragma once

#include <functional>
#include <string>

#include "mcp/jsonrpc.hpp"
#include "mcp/notifications.hpp"
#include "server/listeners.hpp"

namespace proteus::server {

// One `subscriptions/listen` of a modern client, over any transport: acknowledges first, then passes on what
// the filter names, each message tagged with the subscription's id. `send` and `close` are called from any
// thread.
class ListenStream final : public Listener {
 public:
  ListenStream(Caller caller, mcp::SubscriptionFilter filter, std::string id, mcp::ResultStyle style,
               std::function<void(std::string)> send, std::function<void()> close);
  ~ListenStream() override;
  ListenStream(const ListenStream&) = delete;
  ListenStream& operator=(const ListenStream&) = delete;

  // The listeners must outlive it.
  [[nodiscard]] Listeners::Registration start(Listeners& listeners);

  const Caller& caller() const override { return caller_; }
  void list_changed(mcp::Method changed) override;
  void resource_updated(std::string_view uri) override;
  void end() override;

 private:
  const Caller caller_;
  const mcp::SubscriptionFilter filter_;
  const std::string id_;
  const mcp::ResultStyle style_;
  const std::function<void(std::string)> send_;
  const std::function<void()> close_;
  Listeners* follows_ = nullptr;
};

}  // namespace proteus::server
