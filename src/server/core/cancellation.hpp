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

  // Something that is to happen when it is requested, for as long as this lives.
  class Hook {
   public:
    // Called once, at once if it was requested before. The cancellation outlives the hook.
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
  // On the call's thread.
  void fire();
  // From any thread.
  void request();

 private:
  Executor executor_;
  bool requested_ = false;
  boost::container::small_vector<Hook*, 2> hooks_;
};

}  // namespace proteus::server
