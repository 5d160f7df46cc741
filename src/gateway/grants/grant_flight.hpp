#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gateway/grants/vault.hpp"

namespace proteus::gateway {

// A change of one grant that is under way. Belongs to the control thread. Waiters that have no answer when it ends get
// an error of kind `cancelled`.
class Vault::Flight {
 public:
  Flight(Vault& vault, GrantKey key) : vault_(vault), key_(std::move(key)) {}
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;
  ~Flight() {
    deliver(std::unexpected(errors::cancelled("the request for a token")));
    vault_.flights_.erase(key_);
    vault_.landed_.ring();
    if (vault_.closed_) return;
    for (const std::string& id : changed_)
      vault_.tasks_.spawn("following a grant", vault_.follow_again(id));
  }

  // Another process changed a record of the grant: after a disconnection and another sign-in, there are two. They are
  // read when this change has ended.
  void follow_later(std::string id) { changed_.insert(std::move(id)); }
  // What is being obtained rests on a sign-in that has ended.
  void outdate() { outdated_ = true; }
  bool take_outdated() { return std::exchange(outdated_, false); }
  void add(Answer answer) { waiting_.push_back(std::move(answer)); }
  void deliver(const Result<GrantPointer>& result) {
    for (const Answer& answer : std::exchange(waiting_, {}))
      answer->deliver(result);
  }

 private:
  Vault& vault_;
  const GrantKey key_;
  std::vector<Answer> waiting_;
  std::set<std::string> changed_;  // ids of the records
  bool outdated_ = false;
};

}  // namespace proteus::gateway
