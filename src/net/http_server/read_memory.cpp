#include "net/http_server/read_memory.hpp"

#include <algorithm>

namespace proteus::net {

ReadMemory::ReadMemory(const HttpLimits& limits) {
  const std::size_t one = 2 * (limits.head_bytes + limits.body_bytes);
  budget(Standing::stranger).limit = std::max(limits.stranger_bytes, one);
  budget(Standing::known).limit = std::max(limits.known_bytes, one);
}

bool ReadMemory::grow(Share& share, std::size_t bytes, Standing standing) {
  Budget& from = budget(standing);
  const bool has_some = share.is_from(standing);
  const std::size_t more = bytes - (has_some ? share.bytes_ : 0);
  if (from.taken.fetch_add(more, std::memory_order_relaxed) + more > from.limit) {
    from.taken.fetch_sub(more, std::memory_order_relaxed);
    return false;
  }
  if (has_some) {
    share.bytes_ = bytes;
  } else {
    share = Share(*this, bytes, standing);
  }
  return true;
}

void ReadMemory::move(Share& share, Standing standing) {
  if (share.memory_ != nullptr && !share.is_from(standing)) (void)grow(share, share.bytes_, standing);
}

ReadMemory::Share::~Share() {
  if (memory_ != nullptr) memory_->budget(standing_).taken.fetch_sub(bytes_, std::memory_order_relaxed);
}

}  // namespace proteus::net
