#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/jsonrpc.hpp"
#include "mcp/notifications.hpp"
#include "server/core/listeners.hpp"

namespace proteus::server {

// One `subscriptions/listen` of a modern client, over any transport. Sends the acknowledgement first and then the
// notifications that the filter names, each tagged with the id of the subscription. Notifications between `start` and
// `acknowledge` are sent after the acknowledgement. `send` and `close` are called on any thread.
class ListenStream final : public Listener {
 public:
  ListenStream(Caller caller, mcp::SubscriptionFilter filter, std::string id, mcp::ResultStyle style,
               std::function<void(std::string)> send, std::function<void()> close);
  ~ListenStream() override;
  ListenStream(const ListenStream&) = delete;
  ListenStream& operator=(const ListenStream&) = delete;

  // Registers the stream. `listeners` must outlive it.
  [[nodiscard]] Listeners::Registration start(Listeners& listeners);
  // Acknowledges the filter, without the resources in `without`.
  void acknowledge(const std::vector<std::string>& without = {});

  std::shared_ptr<const Caller> caller() const override { return caller_; }
  std::optional<mcp::SubscriptionFilter> stream_filter() const override;
  void list_changed(mcp::Method changed) override;
  void resource_updated(std::string_view uri) override;
  void end() override;

 private:
  void acknowledge_locked();
  void tell(std::string message);

  const std::shared_ptr<const Caller> caller_;
  const std::string id_;
  const mcp::ResultStyle style_;
  const std::function<void(std::string)> send_;
  const std::function<void()> close_;
  Listeners* follows_ = nullptr;
  std::vector<std::string> followed_;

  mutable std::mutex mutex_;
  mcp::SubscriptionFilter filter_;
  std::set<std::string, std::less<>> told_of_;  // resources of the filter, for fast lookup
  bool acknowledged_ = false;
  bool ended_ = false;
  std::list<std::string> held_;           // notifications before the acknowledgement, each once
  std::set<std::string_view> held_once_;  // views of `held_`
};

}  // namespace proteus::server
