#pragma once

#include <chrono>
#include <cstddef>

namespace proteus::net {

// What a client may take of the server. Times are checked by a sweep, so they end up to two of its intervals
// late.
struct HttpLimits {
  std::size_t head_bytes = 64UL * 1024;        // request line and fields; beyond it 431
  std::size_t head_fields = 128;               // beyond it 431
  std::size_t body_bytes = 4UL * 1024 * 1024;  // beyond it 413
  std::size_t connections = 8192;              // per worker; beyond it 503

  // What requests that do not fit into a connection's first buffer may take in all, of callers without a credential and
  // of those with one, until they are handled; beyond it 503.
  std::size_t stranger_bytes = 32UL * 1024 * 1024;
  std::size_t known_bytes = 512UL * 1024 * 1024;

  std::chrono::milliseconds handshake_time = std::chrono::seconds(10);
  std::chrono::milliseconds head_time = std::chrono::seconds(10);   // for the whole head, from its first byte; then 408
  std::chrono::milliseconds body_idle = std::chrono::seconds(30);   // without a byte of the body; then 408
  std::chrono::milliseconds keep_alive = std::chrono::seconds(75);  // between requests; then closed
  std::chrono::milliseconds write_stall = std::chrono::seconds(30);  // without the client taking a byte; then cut off
  std::chrono::milliseconds linger = std::chrono::seconds(2);        // for the client to close after a last answer

  // Bytes per second, once `body_idle` or `write_stall` has passed: a trickle does not count as progress.
  std::size_t minimum_rate = 1024;
};

}  // namespace proteus::net
