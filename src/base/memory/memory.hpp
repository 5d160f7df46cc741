#pragma once

#include <cstddef>

namespace proteus {

// Releases buckets of a hash table that has far fewer entries than buckets. Erasing entries alone never releases any.
template <class Table>
void let_go_of_buckets(Table& table) {
  constexpr std::size_t kAlways = 64;
  if (table.bucket_count() > kAlways + (4 * table.size())) table.rehash(0);
}

// Returns to the system the memory that this thread has freed and that the allocator still caches. Takes a moment: call
// it on a thread that has just freed much memory or is idle. Does nothing in programs without mimalloc.
void give_back_memory();

}  // namespace proteus
