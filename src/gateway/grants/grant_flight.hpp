#pragma once

#include <utility>
#include <vector>

#include "gateway/grants/vault.hpp"

namespace proteus::gateway {

// A change of one grant that is under way. Of the control thread. Whoever waits and was told nothing when it ends hears
// that it was cancelled.
class Vault::Flight {
 public:
  Flight(Vault& vault, Key key) : vault_(vault), key_(std::move(key)) {}
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;
  ~Flight() {
    deliver(std::unexpected(errors::cancelled("the request for a token")));
    vault_.flights_.erase(key_);
    vault_.landed_.ring();
  }

  void add(Answer answer) { waiting_.push_back(std::move(answer)); }
  void deliver(const Result<GrantPointer>& result) {
    for (const Answer& answer : std::exchange(waiting_, {}))
      answer->deliver(result);
  }

 private:
  Vault& vault_;
  const Key key_;
  std::vector<Answer> waiting_;
};

}  // namespace proteus::gateway
