#pragma once

#include <functional>
#include <memory>
#include <string>

#include <boost/container/small_vector.hpp>
#include <proteus/error.hpp>

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
  // Why the server gives the call up, which its client is told; empty where it is the client who no longer wants it.
  const std::string& reason() const { return reason_; }
  // On the call's thread.
  void fire(std::string reason = {});
  // From any thread.
  void request(std::string reason = {});

 private:
  Executor executor_;
  bool requested_ = false;
  std::string reason_;
  boost::container::small_vector<Hook*, 2> hooks_;
};

// The answer to a call that the server gave up.
Error given_up(const Cancellation& cancellation);

}  // namespace proteus::server
