#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/secrets/sealing.hpp"
#include "mcp/request.hpp"
#include "server/core/call.hpp"

namespace proteus::server {

// Arguments of more bytes are compared byte for byte instead of by value, and their digest takes long.
inline constexpr std::size_t kMostByValue = std::size_t{64} << 10U;
// Returns a digest of a request's arguments, to which the request's state is bound. Arguments are compared by value, so
// that a client may format them differently in the retry. Fails if an object has a duplicate key, because a person
// could confirm one of its values and the other could be used.
Result<std::string> mark_of(std::string_view arguments);

// Mints and opens the `requestState` that carries the rounds of a modern request through the client. It is encrypted
// and authenticated, and bound to the caller and its context, the method, the name and arguments of the request, and a
// time. Numbers in arguments are compared exactly, however many digits they have. `mark` is the digest of the request's
// arguments; see `mark_of`.
class RequestStates {
 public:
  RequestStates(SealingKey key, const Clock& clock, std::chrono::seconds lifetime = std::chrono::minutes(10))
      : key_(key), clock_(clock), lifetime_(lifetime) {}

  // Fails if the answers so far are more than a client can be expected to carry.
  Result<std::string> mint(const mcp::Request& request, const Caller& caller, std::string_view mark,
                           const Rounds& rounds) const;
  // Returns the rounds so far, with the responses in the request. Fails if the state is not one of ours, belongs to
  // another request or has expired, or if the responses are not objects.
  Result<Rounds> open(const mcp::Request& request, const Caller& caller, std::string_view mark) const;

 private:
  SealingKey key_;
  const Clock& clock_;
  std::chrono::seconds lifetime_;
};

}  // namespace proteus::server
