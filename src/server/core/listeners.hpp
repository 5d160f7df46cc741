#pragma once

#include <chrono>
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

// Someone who wants to hear of changes: a modern client's listen stream, or a legacy client's session. Called
// from any thread; must not block.
class Listener {
 public:
  virtual ~Listener() = default;
  // By the credentials that it came with last. Whose it is does not change.
  virtual std::shared_ptr<const Caller> caller() const = 0;
  // When the credentials end that it listens by.
  virtual Clock::Wall until() const { return caller()->until; }
  virtual void list_changed(mcp::Method changed) = 0;
  virtual void resource_updated(std::string_view uri) = 0;
  // The server ends the conversation in good order.
  virtual void end() = 0;
  // What a stream that belongs to no session wants to hear of; nothing for a session.
  virtual std::optional<mcp::SubscriptionFilter> stream_filter() const { return std::nullopt; }

 private:
  friend class Listeners;
  std::chrono::steady_clock::time_point joined_{};
};

// Everyone who listens. Thread-safe.
class Listeners {
 public:
  // Takes the listener out again when it goes.
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
  // Only for those callers whom it concerns. The predicate must not call back here.
  void list_changed(mcp::Method changed, const Concerns& concerns);
  // The same for whoever must know since when each of them listens: nobody is told of what was so when they came.
  using ConcernsSince = std::function<bool(const Caller&, std::chrono::steady_clock::time_point since)>;
  void list_changed(mcp::Method changed, const ConcernsSince& concerns);
  // Only for one principal; looks at nobody else's.
  void list_changed_for(const std::string& principal, mcp::Method changed);
  void resource_updated(std::string_view uri);
  void resource_updated(std::string_view uri, const Concerns& concerns);
  void end_all();
  void end(const Concerns& concerns);
  // Those whose credentials have ended.
  void end_expired(Clock::Wall now);
  // Those of one principal whom it concerns; looks at nobody else's.
  void end_of(const std::string& principal, const Concerns& concerns);

  using Visit = std::function<void(Listener&)>;
  // This one, if it is still there.
  void visit(Listener* listener, const Visit& visit);
  // The streams of a principal that belong to no session.
  void visit_streams(const std::string& principal, const Visit& visit);
  // All that they want to hear of; nothing where there are none.
  std::optional<mcp::SubscriptionFilter> wanted_by_streams(const std::string& principal);
  // Told whenever one of them comes or goes; set before anyone listens. Called on any thread, and must not call back
  // here.
  using OnStreams = std::function<void(const std::string& principal)>;
  void set_on_streams(OnStreams on_streams) { on_streams_ = std::move(on_streams); }

  // Single resources that somebody wants to hear of, counted.
  void follow(std::string_view uri);
  void unfollow(std::string_view uri);
  // Told when a resource is followed for the first time, and when no longer; set before anyone listens. Called on any
  // thread, and must not call back here.
  using OnFollow = std::function<void(const std::string& uri, bool followed)>;
  void set_on_follow(OnFollow on_follow) { on_follow_ = std::move(on_follow); }

 private:
  void remove(Listener* listener);

  mutable std::mutex mutex_;
  std::unordered_set<Listener*> listeners_;
  std::unordered_map<std::string, std::unordered_set<Listener*>> by_principal_;  // the same
  std::unordered_map<std::string, std::vector<Listener*>> streams_;              // by principal
  OnStreams on_streams_;

  std::mutex follow_mutex_;
  std::map<std::string, std::size_t, std::less<>> followed_;
  OnFollow on_follow_;
};

}  // namespace proteus::server
