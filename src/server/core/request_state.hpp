#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/sealing.hpp"
#include "mcp/request.hpp"
#include "server/core/call.hpp"

namespace proteus::server {

// What of a request's arguments its state is bound to. They count by value, so that a client may write them anew for
// the retry; arguments beyond `kMostByValue` count by their bytes, and take long. Fails where they have no single
// value, because an object in them has a key twice: whoever confirms one reading of it might get the other.
inline constexpr std::size_t kMostByValue = std::size_t{64} << 10U;
Result<std::string> mark_of(std::string_view arguments);

// Mints and opens the `requestState` that carries the rounds of a modern request through the client:
// encrypted and authenticated, and bound to the caller and its context, the method, the name and arguments of
// the request, and a time. Numbers in arguments count exactly, however many digits they have. `mark` is that of the
// request's arguments, see mark_of.
class RequestStates {
 public:
  RequestStates(SealingKey key, const Clock& clock, std::chrono::seconds lifetime = std::chrono::minutes(10))
      : key_(key), clock_(clock), lifetime_(lifetime) {}

  // Fails where the answers so far are more than a client can be expected to carry.
  Result<std::string> mint(const mcp::Request& request, const Caller& caller, std::string_view mark,
                           const Rounds& rounds) const;
  // The rounds so far, with the responses that came along. Fails where the state is not ours, not for this
  // request, too old, or where the responses are not objects.
  Result<Rounds> open(const mcp::Request& request, const Caller& caller, std::string_view mark) const;

 private:
  SealingKey key_;
  const Clock& clock_;
  std::chrono::seconds lifetime_;
};

}  // namespace proteus::server
