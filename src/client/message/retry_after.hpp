#pragma once

#include <chrono>

#include "net/http/fields.hpp"

namespace proteus::client {

// No server makes us wait for longer than this.
inline constexpr std::chrono::seconds kLongestRetryAfter = std::chrono::minutes(5);

// What the `Retry-After` of an answer asks for (RFC 9110, 10.2.3), in either of its forms; a date counts from the
// answer's own `Date`. Zero where there is none that can be read.
std::chrono::seconds read_retry_after(const net::Fields& fields);

}  // namespace proteus::client
