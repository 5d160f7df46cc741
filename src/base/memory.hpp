#pragma once

namespace proteus {

// Gives back to the system what this thread has freed and the program's allocator keeps for it. Takes a moment: for a
// thread that has just let go of much, or has nothing to do.
void give_back_memory();

}  // namespace proteus
