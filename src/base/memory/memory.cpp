#include "base/memory/memory.hpp"

#include <cstddef>

#include <mimalloc.h>

// mimalloc is linked into programs, not into libraries, so these functions may be missing.
#pragma weak mi_collect
#pragma weak mi_option_get
#pragma weak mi_option_set
#pragma weak mi_heap_new
#pragma weak mi_heap_malloc
#pragma weak mi_heap_destroy

namespace proteus {
namespace {

// Sets mimalloc's decommit delay to zero while it lives. mimalloc 2.0 returns freed memory only after that delay, and
// checks the delay only when a page of the same segment is allocated or freed, so what an idle thread has freed is
// never returned. A permanent delay of zero would be too expensive, because each large message would pay for every
// page.
class AtOnce {
 public:
  AtOnce() : usual_(usual_delay()) { mi_option_set(mi_option_decommit_delay, 0); }
  ~AtOnce() { mi_option_set(mi_option_decommit_delay, usual_); }
  AtOnce(const AtOnce&) = delete;
  AtOnce& operator=(const AtOnce&) = delete;

 private:
  // Returns the delay before any thread changed it. Several threads may change it at the same time.
  static long usual_delay() {
    static const long delay = mi_option_get(mi_option_decommit_delay);
    return delay;
  }

  const long usual_;
};

// Allocates and frees pages in the segments of this thread, so that mimalloc checks the delay. Small blocks go to
// segments with little room left, large blocks to segments that are almost empty. Nothing is written to them.
void stir_segments() {
  struct Blocks {
    int count;
    std::size_t size;
  };
  constexpr Blocks kSmall{64, std::size_t{16} << 10U};  // a few fill a page
  constexpr Blocks kLarge{16, std::size_t{15} << 20U};  // two fill a segment
  mi_heap_t* const heap = mi_heap_new();
  for (const auto& [count, size] : {kSmall, kLarge}) {
    for (int i = 0; i < count && mi_heap_malloc(heap, size) != nullptr; ++i) {
    }
  }
  mi_heap_destroy(heap);
}

}  // namespace

void give_back_memory() {
  if (mi_collect == nullptr) return;
  const AtOnce at_once;
  mi_collect(true);
  stir_segments();
}

}  // namespace proteus
