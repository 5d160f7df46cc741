#pragma once

#include <functional>
#include <memory>

#include <boost/container/small_vector.hpp>

#include "base/task.hpp"

namespace proteus::server {

// Whether a call is still wanted. Belongs to the thread of the call; `request` is the way in from others.
class Cancellation : public std::enable_shared_from_this<Cancellation> {
 public:
  explicit Cancellation(Executor executor) : executor_(std::move(executor)) {}

  bool requested() const { return requested_; }
  // Called once, at once if it was requested before.
  void on_request(std::function<void()> callback);
  // On the call's thread.
  void fire();
  // From any thread.
  void request();

 private:
  Executor executor_;
  bool requested_ = false;
  boost::container::small_vector<std::function<void()>, 1> callbacks_;
};

}  // namespace proteus::server
