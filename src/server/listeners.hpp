#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_set>

#include "mcp/method.hpp"

namespace proteus::server {

// Someone who wants to hear of changes: a modern client's listen stream, or a legacy client's session. Called
// from any thread; must not block.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void list_changed(mcp::Method changed) = 0;
  virtual void resource_updated(std::string_view uri) = 0;
  // The server ends the conversation in good order.
  virtual void end() = 0;
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

  void list_changed(mcp::Method changed);
  void resource_updated(std::string_view uri);
  void end_all();

 private:
  mutable std::mutex mutex_;
  std::unordered_set<Listener*> listeners_;
};

}  // namespace proteus::server
