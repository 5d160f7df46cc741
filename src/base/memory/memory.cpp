#include "base/memory/memory.hpp"

#include <array>
#include <cstddef>

#include <mimalloc.h>

// mimalloc is linked into programs, not into libraries, so these functions may be missing.
#pragma weak mi_collect
#pragma weak mi_option_get
#pragma weak mi_option_set
#pragma weak mi_heap_new
#pragma weak mi_heap_malloc
#pragma weak mi_heap_collect
#pragma weak mi_heap_delete
#pragma weak mi_free

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
//
// A heap of its own gets new pages for the blocks. mimalloc may also move pages of ended threads, with all that lives
// there, into that heap. So the heap must not be destroyed: deleting it leaves them to this thread.
void stir_segments() {
  struct Blocks {
    std::size_t count;
    std::size_t size;
  };
  constexpr Blocks kSmall{64, std::size_t{16} << 10U};  // a few fill a page
  constexpr Blocks kLarge{16, std::size_t{15} << 20U};  // two fill a segment
  std::array<void*, kSmall.count + kLarge.count> blocks{};
  mi_heap_t* const heap = mi_heap_new();
  std::size_t next = 0;
  for (const auto& [count, size] : {kSmall, kLarge}) {
    for (std::size_t i = 0; i < count; ++i)
      blocks[next++] = mi_heap_malloc(heap, size);
  }
  for (void* block : blocks)
    mi_free(block);
  mi_heap_collect(heap, true);
  mi_heap_delete(heap);
}

}  // namespace

void give_back_memory() {
  if (mi_collect == nullptr) return;
  const AtOnce at_once;
  mi_collect(true);
  stir_segments();
}

}  // namespace proteus
