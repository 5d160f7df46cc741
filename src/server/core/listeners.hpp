#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/clock.hpp"
#include "mcp/method.hpp"
#include "mcp/notifications.hpp"
#include "server/core/caller.hpp"

namespace proteus::server {

// A recipient of change notifications: a modern client's listen stream, or a legacy client's session. Called on any
// thread, under a lock of Listeners; must not block.
class Listener {
 public:
  virtual ~Listener() = default;
  // Returns the caller with its latest credentials. The principal never changes.
  virtual std::shared_ptr<const Caller> caller() const = 0;
  // Returns when the listener's credentials expire.
  virtual Clock::Wall until() const { return caller()->until; }
  virtual void list_changed(mcp::Method changed) = 0;
  virtual void resource_updated(std::string_view uri) = 0;
  // Ends the open stream in good order.
  virtual void end() = 0;
  // Returns what a listen stream subscribes to; nothing for a session.
  virtual std::optional<mcp::SubscriptionFilter> stream_filter() const { return std::nullopt; }

 private:
  friend class Listeners;
  std::chrono::steady_clock::time_point joined_{};
  std::uint64_t number_ = 0;  // unique among all listeners so far
};

// All listeners. Thread-safe.
class Listeners {
 public:
  // Unregisters the listener when it is destroyed. The listener must outlive it.
  class Registration {
   public:
    Registration() = default;
    Registration(Listeners& listeners, Listener& listener) : listeners_(&listeners), listener_(&listener) {}
    Registration(Registration&& other) noexcept;
    Registration& operator=(Registration&& other) noexcept;
    ~Registration() { reset(); }
    void reset();

   private:
    Listeners* listeners_ = nullptr;
    Listener* listener_ = nullptr;
  };

  [[nodiscard]] Registration add(Listener& listener);
  std::size_t size() const;

  using Concerns = std::function<bool(const Caller&)>;

  void list_changed(mcp::Method changed);
  // Notifies only the callers that `concerns` selects. The predicate may take long: it is called without a lock.
  void list_changed(mcp::Method changed, const Concerns& concerns);
  // The predicate also gets the time since which the caller has listened, so that a caller is not notified of older
  // changes.
  using ConcernsSince = std::function<bool(const Caller&, std::chrono::steady_clock::time_point since)>;
  void list_changed(mcp::Method changed, const ConcernsSince& concerns);
  // Notifies one principal, without looking at others.
  void list_changed_for(const std::string& principal, mcp::Method changed);
  void resource_updated(std::string_view uri);
  void resource_updated(std::string_view uri, const Concerns& concerns);
  void end_all();
  void end(const Concerns& concerns);
  // Ends the listeners whose credentials have expired.
  void end_expired(Clock::Wall now);
  // Like `end`, for the listeners of one principal, without looking at others.
  void end_of(const std::string& principal, const Concerns& concerns);

  using Visit = std::function<void(Listener&)>;
  // Calls `visit` for the listener, if it is still registered.
  void visit(Listener* listener, const Visit& visit);
  // Calls `visit` for the listen streams of a principal.
  void visit_streams(const std::string& principal, const Visit& visit);
  // A listen stream, for operators.
  struct Stream {
    std::uint64_t number;
    std::shared_ptr<const Caller> caller;
    std::chrono::steady_clock::time_point since;
    mcp::SubscriptionFilter filter;
  };
  std::vector<Stream> streams() const;
  // Ends a listen stream. Returns its caller; null if there is no such stream any more.
  std::shared_ptr<const Caller> end_stream(std::uint64_t number);
  // Returns what the listen streams of a principal subscribe to, all together; nothing if it has none.
  std::optional<mcp::SubscriptionFilter> wanted_by_streams(const std::string& principal);
  // Sets the callback for listen streams that begin or end. It is called on any thread and must not call Listeners.
  // Must be set before there are listeners.
  using OnStreams = std::function<void(const std::string& principal)>;
  void set_on_streams(OnStreams on_streams) { on_streams_ = std::move(on_streams); }

  // Count the subscriptions to single resources.
  void follow(std::string_view uri);
  void unfollow(std::string_view uri);
  // Sets the callback for the first subscription to a resource and the end of the last one. It is called on any thread
  // and must not call Listeners. Must be set before there are listeners.
  using OnFollow = std::function<void(const std::string& uri, bool followed)>;
  void set_on_follow(OnFollow on_follow) { on_follow_ = std::move(on_follow); }

 private:
  void remove(Listener* listener);

  mutable std::mutex mutex_;
  std::unordered_set<Listener*> listeners_;
  std::unordered_map<std::string, std::unordered_set<Listener*>> by_principal_;  // the same listeners
  std::unordered_map<std::string, std::vector<Listener*>> streams_;              // listen streams by principal
  OnStreams on_streams_;
  std::uint64_t last_number_ = 0;

  std::mutex follow_mutex_;
  std::map<std::string, std::size_t, std::less<>> followed_;
  OnFollow on_follow_;
};

}  // namespace proteus::server
