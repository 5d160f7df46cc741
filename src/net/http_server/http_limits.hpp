#pragma once

#include <chrono>
#include <cstddef>

namespace proteus::net {

// What a client may use of the server. A sweep checks the times, so they may end up to two of its intervals late.
struct HttpLimits {
  std::size_t head_bytes = 64UL * 1024;        // request line and fields; beyond it 431
  std::size_t head_fields = 128;               // beyond it 431
  std::size_t body_bytes = 4UL * 1024 * 1024;  // beyond it 413
  std::size_t connections = 8192;              // per worker; beyond it 503

  // Memory for all requests that do not fit into their connection's first buffer, until they are handled: of callers
  // without a credential, and of callers with one; beyond it 503.
  std::size_t stranger_bytes = 32UL * 1024 * 1024;
  std::size_t known_bytes = 512UL * 1024 * 1024;

  std::chrono::milliseconds handshake_time = std::chrono::seconds(10);
  std::chrono::milliseconds head_time = std::chrono::seconds(10);   // for the whole head, from its first byte; then 408
  std::chrono::milliseconds body_idle = std::chrono::seconds(30);   // without a byte of the body; then 408
  std::chrono::milliseconds keep_alive = std::chrono::seconds(75);  // between requests; then closed
  std::chrono::milliseconds write_stall = std::chrono::seconds(30);  // without the client taking a byte; then cut off
  std::chrono::milliseconds linger = std::chrono::seconds(2);        // for the client to close after a last answer

  // Minimum of bytes per second once `body_idle` or `write_stall` has passed, because a trickle is no progress.
  std::size_t minimum_rate = 1024;
};

}  // namespace proteus::net
