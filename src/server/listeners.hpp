#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

#include "mcp/method.hpp"
#include "server/caller.hpp"

namespace proteus::server {

// Someone who wants to hear of changes: a modern client's listen stream, or a legacy client's session. Called
// from any thread; must not block.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual const Caller& caller() const = 0;
  virtual void list_changed(mcp::Method changed) = 0;
  virtual void resource_updated(std::string_view uri) = 0;
  // The server ends the conversation in good order.
  virtual void end() = 0;

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
  void resource_updated(std::string_view uri);
  void resource_updated(std::string_view uri, const Concerns& concerns);
  void end_all();
  void end(const Concerns& concerns);

  // Single resources that somebody wants to hear of, counted.
  void follow(std::string_view uri);
  void unfollow(std::string_view uri);
  // Told when a resource is followed for the first time, and when no longer; set before anyone listens. Called on any
  // thread, and must not call back here.
  using OnFollow = std::function<void(const std::string& uri, bool followed)>;
  void set_on_follow(OnFollow on_follow) { on_follow_ = std::move(on_follow); }

 private:
  mutable std::mutex mutex_;
  std::unordered_set<Listener*> listeners_;

  std::mutex follow_mutex_;
  std::map<std::string, std::size_t, std::less<>> followed_;
  OnFollow on_follow_;
};

}  // namespace proteus::server
