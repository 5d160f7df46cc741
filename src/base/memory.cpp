#include "base/memory.hpp"

#include <cstddef>

#include <mimalloc.h>

// It is linked into programs, not into libraries.
#pragma weak mi_collect
#pragma weak mi_option_get
#pragma weak mi_option_set
#pragma weak mi_heap_new
#pragma weak mi_heap_malloc
#pragma weak mi_heap_destroy

namespace proteus {
namespace {

// mimalloc 2.0 lets go of what was freed only when its time has come, and looks at the time only when a page of the
// same segment comes or goes: what an idle thread has freed stays. Zero is at once; that is too costly for always,
// because large messages would be paid for page by page.
class AtOnce {
 public:
  AtOnce() : usual_(usual_delay()) { mi_option_set(mi_option_decommit_delay, 0); }
  ~AtOnce() { mi_option_set(mi_option_decommit_delay, usual_); }
  AtOnce(const AtOnce&) = delete;
  AtOnce& operator=(const AtOnce&) = delete;

 private:
  // As it was before any thread has changed it: several may do so at a time.
  static long usual_delay() {
    static const long delay = mi_option_get(mi_option_decommit_delay);
    return delay;
  }

  const long usual_;
};

// Has pages come and go in the segments of this thread. Small ones go where little room is left, so that large ones are
// needed for segments that are almost empty; nothing is written to them.
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
