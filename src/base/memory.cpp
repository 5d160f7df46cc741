#include "base/memory.hpp"

// mimalloc is linked into programs, not into libraries, and gives pages back only while its thread allocates.
extern "C" [[gnu::weak]] void mi_collect(bool force) noexcept;

namespace proteus {

void give_back_memory() {
  if (mi_collect != nullptr) mi_collect(true);
}

}  // namespace proteus
