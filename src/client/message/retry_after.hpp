#pragma once

#include <chrono>

#include "net/http/fields.hpp"

namespace proteus::client {

// The longest time that a server can make us wait.
inline constexpr std::chrono::seconds kLongestRetryAfter = std::chrono::minutes(5);

// Returns the wait that a response's `Retry-After` asks for (RFC 9110, section 10.2.3), in either of its forms, at most
// kLongestRetryAfter. A date is relative to the response's own `Date`. Zero if there is none or it cannot be read.
std::chrono::seconds read_retry_after(const net::Fields& fields);

}  // namespace proteus::client
