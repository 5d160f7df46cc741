#pragma once

#include <cstddef>
#include <utility>

#include "net/io/stream.hpp"

namespace proteus::net {

// Two connected ends in one thread, for tests and fuzzing: what one end writes, the other reads. Each direction holds
// at most `capacity` bytes; beyond that a writer waits, as for a peer that does not read.
std::pair<Stream, Stream> memory_streams(const Executor& executor, std::size_t capacity = 64UL * 1024);

}  // namespace proteus::net
