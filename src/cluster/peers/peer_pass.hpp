#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/secrets/sealing.hpp"

namespace proteus::cluster {

// Makes and checks the passes of requests on peer links. A pass proves that one of our processes forwards the request,
// now, to this process and no other. Sealed, and bound to the request's method and target. Immutable.
class PeerPasses {
 public:
  static constexpr std::string_view kField = "Proteus-Peer";
  // How far the clocks of two processes may be apart, plus the time that the request takes.
  static constexpr std::chrono::seconds kGoodFor{60};

  // `self` is the name of this process.
  PeerPasses(SealingKey key, std::string self) : key_(key), self_(std::move(self)) {}

  std::string mint(std::string_view to, std::string_view method, std::string_view target, Clock::Wall now) const;
  // Returns the name of the process that forwards the request. Fails unless one of our processes does, for this request
  // and now. The error is of kind `conflict` if the pass is for another process: its sender looks for a process that is
  // gone.
  Result<std::string> check(std::string_view pass, std::string_view method, std::string_view target,
                            Clock::Wall now) const;

 private:
  const SealingKey key_;
  const std::string self_;
};

}  // namespace proteus::cluster
