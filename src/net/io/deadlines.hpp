#pragma once

#include <cstddef>
#include <vector>

#include "base/clock.hpp"

namespace proteus::net {

class Timed;

// The deadlines of one thread, checked by a periodic sweep. A timer for each would cost more than the work it guards.
class Deadlines {
 public:
  // Gives up everything that is overdue.
  void sweep(Clock::Monotonic now);
  bool empty() const { return timed_.empty(); }

  // Gives up everything, without marking it as expired.
  void abandon_all();

 private:
  friend class Timed;
  std::vector<Timed*> timed_;
};

// An operation that is given up when its time is up.
class Timed {
 public:
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 protected:
  Timed() = default;
  ~Timed() { unwatch(); }

  // Adds this operation to `list`, which must live until `unwatch`.
  void watch(Deadlines& list, Clock::Monotonic deadline);
  void unwatch();
  void set_deadline(Clock::Monotonic deadline) { deadline_ = deadline; }

  // Whether the operation was given up because of its deadline.
  bool is_expired() const { return expired_; }
  // Resets the expiry for another attempt, which gets its own deadline.
  void clear_expired() { expired_ = false; }

  // Ends the current wait. Must not destroy anything in the list.
  virtual void give_up() = 0;

 private:
  friend class Deadlines;
  Deadlines* list_ = nullptr;
  std::size_t position_ = 0;
  Clock::Monotonic deadline_ = Clock::Monotonic::max();
  bool expired_ = false;
};

}  // namespace proteus::net
