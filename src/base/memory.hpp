#pragma once

#include <cstddef>

namespace proteus {

// Has a hash table, once it has far fewer entries than buckets, let go of these, too: they stay for as many as there
// ever were.
template <class Table>
void let_go_of_buckets(Table& table) {
  constexpr std::size_t kAlways = 64;
  if (table.bucket_count() > kAlways + (4 * table.size())) table.rehash(0);
}

// Gives back to the system what this thread has freed and the program's allocator keeps for it. Takes a moment: for a
// thread that has just let go of much, or has nothing to do.
void give_back_memory();

}  // namespace proteus
