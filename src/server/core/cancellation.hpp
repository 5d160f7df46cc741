#pragma once

#include <functional>
#include <memory>
#include <string>

#include <boost/container/small_vector.hpp>
#include <proteus/error.hpp>

#include "base/tasks/task.hpp"

namespace proteus::server {

// Whether a call was cancelled. Belongs to the thread of the call; other threads use `request`.
class Cancellation : public std::enable_shared_from_this<Cancellation> {
 public:
  explicit Cancellation(Executor executor) : executor_(std::move(executor)) {}

  // A callback for the cancellation, registered while the hook lives.
  class Hook {
   public:
    // `callback` is called once: when the cancellation fires, or at once if it has fired already. The cancellation must
    // outlive the hook.
    Hook(Cancellation& cancellation, std::function<void()> callback);
    ~Hook();
    Hook(const Hook&) = delete;
    Hook& operator=(const Hook&) = delete;

   private:
    friend class Cancellation;
    Cancellation& cancellation_;
    std::function<void()> callback_;
  };

  bool requested() const { return requested_; }
  // Returns why the server cancelled the call, for the client; empty if the client cancelled it.
  const std::string& reason() const { return reason_; }
  // Must be called on the call's thread.
  void fire(std::string reason = {});
  // Fires on the call's thread. Thread-safe.
  void request(std::string reason = {});

 private:
  Executor executor_;
  bool requested_ = false;
  std::string reason_;
  boost::container::small_vector<Hook*, 2> hooks_;
};

// Returns the answer to a call that the server cancelled.
Error given_up(const Cancellation& cancellation);

}  // namespace proteus::server
