#include "net/io/deadlines.hpp"

namespace proteus::net {

void Deadlines::sweep(Clock::Monotonic now) {
  for (Timed* timed : timed_) {
    if (timed->expired_ || timed->deadline_ > now) continue;
    timed->expired_ = true;
    timed->give_up();
  }
}

void Deadlines::abandon_all() {
  for (Timed* timed : timed_)
    timed->give_up();
}

void Timed::watch(Deadlines& list, Clock::Monotonic deadline) {
  unwatch();
  list_ = &list;
  deadline_ = deadline;
  expired_ = false;
  position_ = list.timed_.size();
  list.timed_.push_back(this);
}

void Timed::unwatch() {
  if (!list_) return;
  Timed* last = list_->timed_.back();
  list_->timed_[position_] = last;
  last->position_ = position_;
  list_->timed_.pop_back();
  list_ = nullptr;
}

}  // namespace proteus::net
