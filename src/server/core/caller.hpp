#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.hpp"

namespace proteus::server {

// What authentication attaches to a caller, such as the gateway's Principal, for later code to find. It can be
// withdrawn.
class Grant {
 public:
  // A grant that continues another (null for none) holds as long as that one: to withdraw one withdraws both.
  explicit Grant(const Grant* continued = nullptr)
      : withdrawn_(continued != nullptr ? continued->withdrawn_ : std::make_shared<std::atomic<bool>>(false)) {}
  virtual ~Grant() = default;
  Grant(const Grant&) = delete;
  Grant& operator=(const Grant&) = delete;

  // Thread-safe. The code that withdraws a grant also ends what is open. A request that was admitted before and begins
  // something later must check `holds`.
  void withdraw() const { withdrawn_->store(true, std::memory_order_release); }
  bool holds() const { return !withdrawn_->load(std::memory_order_acquire); }

 private:
  const std::shared_ptr<std::atomic<bool>> withdrawn_;
};

// The sender of a request, as the transport authenticated it. Sessions and request states belong to one caller. Two
// callers are equal if their principals and contexts are, whatever their credentials.
struct Caller {
  std::string principal = {};  // empty: anonymous
  std::string context = {};    // the context that it uses; empty: the whole server
  std::shared_ptr<const Grant> grant = {};
  Clock::Wall until = Clock::Wall::max();  // when its credentials expire

  // Returns false once the grant was withdrawn.
  bool holds() const { return !grant || grant->holds(); }

  friend bool operator==(const Caller& a, const Caller& b) {
    return a.principal == b.principal && a.context == b.context;
  }
};

}  // namespace proteus::server
