#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/sealing.hpp"

namespace proteus::cluster {

// What a request on a peer link shows: that one of us passes it on, now, to this process and no other. Sealed, and
// bound to the request's method and target. Immutable.
class PeerPasses {
 public:
  static constexpr std::string_view kField = "Proteus-Peer";
  // How far the clocks of two processes may be apart, with the way between them.
  static constexpr std::chrono::seconds kGoodFor{60};

  // `self` is the name of this process.
  PeerPasses(SealingKey key, std::string self) : key_(key), self_(std::move(self)) {}

  std::string mint(std::string_view to, std::string_view method, std::string_view target, Clock::Wall now) const;
  // Who has passed it on. Fails where that was none of us, not for this request, or not now. A pass for another process
  // is of kind `conflict`: whoever has it looks for a process that is gone.
  Result<std::string> check(std::string_view pass, std::string_view method, std::string_view target,
                            Clock::Wall now) const;

 private:
  const SealingKey key_;
  const std::string self_;
};

}  // namespace proteus::cluster
