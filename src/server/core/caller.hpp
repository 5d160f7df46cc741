#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/clock.hpp"

namespace proteus::server {

// What whoever authenticates callers wants to find again when one asks.
class Grant {
 public:
  Grant() = default;
  virtual ~Grant() = default;
  Grant(const Grant&) = delete;
  Grant& operator=(const Grant&) = delete;

  // From any thread. Whoever withdraws it ends what is open; what was admitted before and begins after that looks here.
  void withdraw() const { withdrawn_.store(true, std::memory_order_release); }
  bool holds() const { return !withdrawn_.load(std::memory_order_acquire); }

 private:
  mutable std::atomic<bool> withdrawn_ = false;
};

// Who is asking, as the transport found out. Sessions and request states belong to one caller.
struct Caller {
  std::string principal = {};  // empty: anonymous
  std::string context = {};    // the part of the server that is spoken to; empty: all of it
  std::shared_ptr<const Grant> grant = {};
  Clock::Wall until = Clock::Wall::max();  // when its credentials end

  // False once what it was granted has been withdrawn.
  bool holds() const { return !grant || grant->holds(); }

  friend bool operator==(const Caller& a, const Caller& b) {
    return a.principal == b.principal && a.context == b.context;
  }
};

}  // namespace proteus::server
