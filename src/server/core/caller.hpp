#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.hpp"

namespace proteus::server {

// What authentication attaches to a caller, such as the gateway's Principal, for later code to find. It can be
// withdrawn, by itself or together with the grant that it is based on.
class Grant {
 public:
  explicit Grant(std::shared_ptr<const Grant> basis = nullptr) : basis_(std::move(basis)) {}
  virtual ~Grant() = default;
  Grant(const Grant&) = delete;
  Grant& operator=(const Grant&) = delete;

  // Thread-safe. The code that withdraws a grant also ends what is open. A request that was admitted before and begins
  // something later must check `holds`.
  void withdraw() const { withdrawn_.store(true, std::memory_order_release); }
  bool holds() const { return !withdrawn_.load(std::memory_order_acquire) && (!basis_ || basis_->holds()); }

 private:
  const std::shared_ptr<const Grant> basis_;
  mutable std::atomic<bool> withdrawn_ = false;
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
